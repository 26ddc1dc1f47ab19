"""SmartSearch: grep, hops, two rankers, a cut."""
