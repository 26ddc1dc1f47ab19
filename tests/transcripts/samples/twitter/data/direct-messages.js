window.YTD.direct_messages.part0 = [
  {
    "dmConversation": {
      "conversationId": "42-77",
      "messages": [
        {
          "reactionCreate": {
            "senderId": "77",
            "reactionKey": "like",
            "createdAt": "2024-06-10T14:02:00.000Z"
          }
        },
        {
          "messageCreate": {
            "id": "502",
            "senderId": "77",
            "recipientId": "42",
            "text": "yes: https://t.co/abc",
            "urls": [
              {
                "url": "https://t.co/abc",
                "expanded": "https://looms.example/1",
                "display": "looms.example/1"
              }
            ],
            "mediaUrls": [],
            "createdAt": "2024-06-10T14:01:00.000Z"
          }
        },
        {
          "messageCreate": {
            "id": "501",
            "senderId": "42",
            "recipientId": "77",
            "text": "Is the loom still for sale?",
            "urls": [],
            "mediaUrls": [
              "https://ton.twitter.com/dm/501/loom.jpg"
            ],
            "createdAt": "2024-06-10T14:00:00.000Z"
          }
        }
      ]
    }
  }
]
