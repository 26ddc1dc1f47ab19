"""A fixed sample written by hand: each question with the text that answers it and texts that do not.

`export` keeps the fp32 scores of the sample in the config, so that a test can compare the int8 file
with them, and the same test asks that the right text comes first.
"""

from __future__ import annotations

SAMPLE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "When did Nadia start her pottery class?",
        "[14 March 2024] Nadia: Guess what, I had my first pottery lesson was last night! | Tom: What's new?",
        (
            "[14 March 2024] Tom: What's new? | Nadia: Hey Tom!",
            "[2 April 2024] Tom: I should start something creative, maybe a drawing class. | Nadia: Do it!",
            "[2 April 2024] Nadia: My brother starts his new job on Monday. | Tom: How is the family?",
            "[20 May 2024] Nadia: We went hiking near the lake and it rained all day. | Tom: Any plans?",
            "[20 May 2024] Tom: When does the train leave? | Nadia: I will pick you up.",
            "[1 June 2024] Nadia: I'm tired, work has been a lot. | Tom: You look pale.",
        ),
    ),
    (
        "What pets does Oscar have?",
        "[3 July 2023] Oscar: Two cats and an old parrot, they run the house. | Lena: Any animals?",
        (
            "[3 July 2023] Lena: Do you have any animals? | Oscar: My flat is never quiet.",
            "[3 July 2023] Lena: I had a dog as a child, he was called Bruno. | Oscar: Two cats.",
            "[9 July 2023] Oscar: I have to fix the roof before winter. | Lena: What are you up to?",
            "[9 July 2023] Lena: The pet food shop closed, so sad. | Oscar: Anything new in town?",
            "[15 August 2023] Oscar: Pizza again, I can't help it. | Lena: What did you have for dinner?",
            "[15 August 2023] Lena: Have you seen the new film about whales? | Oscar: Not yet.",
        ),
    ),
    (
        "where did priya move",
        "Priya: We finally got the keys, so home is a tiny flat in Porto now. | Mark: How was the week?",
        (
            "Mark: How was the week? | Priya: Hello stranger!",
            "Mark: I moved my desk to the window, best decision ever. | Priya: Show me!",
            "Priya: I love the new season of that baking show. | Mark: What are you watching?",
            "Priya: The gym was full, I left after ten minutes. | Mark: Did you train?",
            "Mark: My sister lives in Madrid and hates the heat. | Priya: How is she?",
            "Priya: Let's talk tomorrow, I'm off to bed. | Mark: It is late.",
        ),
    ),
    (
        "Why did Hugo quit his job?",
        "[11 January 2022] Hugo: Honestly, I handed in my notice as the nights away were too much.",
        (
            "[11 January 2022] Ida: You quit? Why? | Hugo: I did it.",
            "[5 February 2022] Hugo: The new office has a great coffee machine. | Ida: And the new place?",
            "[5 February 2022] Ida: My boss gave me another project. | Hugo: How's work?",
            "[9 March 2022] Hugo: The kids built a boat from boxes. | Ida: What did you do on Sunday?",
            "[9 March 2022] Hugo: I bought a used van, it needs a new engine. | Ida: Is that yours?",
            "[30 March 2022] Ida: I quit sugar last month. | Hugo: You look well.",
        ),
    ),
    (
        "What database did I choose for the inventory app?",
        "User: I compared both, and for the inventory app I'll go with SQLite.",
        (
            "User: How do I center a div? | Assistant: Is there anything else?",
            "Assistant: Some choices for an app are PostgreSQL, MySQL and SQLite. | User: Which are there?",
            "User: The inventory in the shop has about 4,000 parts. | Assistant: How large is it?",
            "Assistant: Here is a packing list for your trip to Norway. | User: What should I take?",
            "User: Can you write a poem about my cat? | Assistant: What would you like?",
            "Assistant: You can add an index with CREATE INDEX. | User: The query is slow.",
        ),
    ),
    (
        "Would Greta enjoy a trip to the mountains?",
        "[8 October 2023] Greta: Nothing makes me happier than long walks above the tree line. | Sam: Hm?",
        (
            "[8 October 2023] Sam: Favourite thing? | Greta: Ask me anything.",
            "[8 October 2023] Sam: I booked a trip to the sea for my mother. | Greta: Sweet of you.",
            "[12 October 2023] Greta: The dishwasher broke again. | Sam: What's wrong?",
            "[12 October 2023] Sam: Would you like tea or coffee? | Greta: I'm freezing.",
            "[1 November 2023] Greta: My exam is on Thursday and I have not read a page. | Sam: Ready?",
            "[1 November 2023] Sam: The printer is out of paper. | Greta: Can you print it?",
        ),
    ),
)
