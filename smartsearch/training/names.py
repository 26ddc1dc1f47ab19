"""First names for training chats, and their consistent replacement in speakers, texts and questions."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

FIRST_NAMES = tuple(
    re.findall(
        r"\w+",
        """
        Aaron Abby Adam Aisha Alan Alex Alice Alina Amara Amelia Amy Ana Andre Andrew Angela Anita Anna
        Anton Aria Arjun Arthur Ava Ben Beth Bianca Bob Brandon Brenda Brian Bruno Camila Carl Carla
        Carlos Caroline Cathy Celine Charlie Chloe Chris Clara Claire Connor Cora Daisy Dan Daniel Daria
        David Deborah Dennis Derek Diana Diego Dmitri Dominic Donna Dylan Edith Eduardo Elena Eli Ella
        Elliot Emil Emily Emma Eric Erin Ethan Eva Evan Faith Farah Felix Fiona Frank Freya Gabriel Gary
        Gavin George Gina Grace Greg Greta Hank Hannah Harold Harriet Hassan Heidi Helen Henry Holly
        Hugo Ian Ida Imani Ines Ingrid Irene Iris Isaac Ivan Jack Jacob Jade James Jamal Jan Jane Jared
        Jasmine Jason Jay Jean Jenna Jerome Jesse Jill Jin Joan Joe Joel Johan John Jon Jonas Jordan
        Josh Joy Juan Judy Julia Julian June Kai Karen Karl Kate Katie Keith Kelly Ken Kenji Kevin Kim
        Kyle Lana Lara Laura Lea Leah Lena Leo Leon Leslie Liam Lila Lily Linda Lisa Liz Logan Louis
        Lucas Lucia Lucy Luis Luke Luna Lydia Maggie Malik Manuel Mara Marco Margaret Maria Marie Marina
        Mario Mark Martha Martin Mary Mateo Matt Maya Megan Mei Melanie Melissa Mia Michael Michelle
        Miguel Mike Mila Milo Mina Miriam Molly Mona Nadia Naomi Nate Nathan Neil Nick Nicole Nina Noah
        Noor Nora Norman Olga Olive Oliver Omar Oscar Otto Pablo Pam Patricia Paul Paula Pedro Penny
        Pete Peter Petra Phil Pia Priya Quinn Rachel Rafael Raj Ralph Ravi Ray Rebecca Rhea Ricardo Rita
        Rob Robin Roland Rosa Rose Roy Ruby Ruth Ryan Sam Samir Sandra Sara Sasha Sean Selma Seth Shane
        Sharon Sheila Simon Sofia Sonia Stella Steve Sue Sunil Susan Sven Sylvia Tamara Tanya Tara Ted
        Teresa Theo Tim Tina Tobias Todd Tom Toni Tracy Troy Uma Ursula Vera Victor Vincent Violet
        Vivian Walter Wanda Wendy Will Willa Xavier Yara Yasmin Yuki Yusuf Zach Zara Zoe
        """,
    )
)
"""Typed by hand for this project; the order has no meaning."""


def pick_names(words: Sequence[str], rng: random.Random, taken: str = "") -> dict[str, str]:
    """A random first name for each word, all different and none a word of `taken`."""
    used = set(re.findall(r"\w+", taken))
    free = [name for name in rng.sample(FIRST_NAMES, len(FIRST_NAMES)) if name not in used]
    return dict(zip(words, free, strict=False))


def replace_names(text: str, mapping: Mapping[str, str]) -> str:
    """`text` with every whole word (or words) of `mapping` replaced, longest first, case kept."""
    if not mapping:
        return text
    keys = sorted(mapping, key=len, reverse=True)
    pattern = r"\b(" + "|".join(re.escape(key) for key in keys) + r")\b"
    return re.sub(pattern, lambda found: mapping[found.group(1)], text)
