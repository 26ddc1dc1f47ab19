"""The rankers: two scorers of one shape, and the fusion of their ranks."""
