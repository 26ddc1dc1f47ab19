"""The words that WhatsApp itself writes into an export, by language. Data only.

English, German, French, Spanish, Portuguese (both), Italian, Dutch, Russian, Polish, Turkish, Swedish,
Indonesian, Arabic, Hindi, Japanese, Chinese (both) and Korean. Case-folded, without a last full stop.
A language that is not here loses no text: attached files are known by their names, and a phrase that an
iPhone marks as its own is a caption as it stands.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    """The words of a table, parted by `|` and by lines."""
    return frozenset(
        word.strip().casefold() for line in words.strip().split("\n") for word in line.split("|")
    )


OMITTED_MEDIA = _set("""
<Media omitted>|<Medien ausgeschlossen>|<Medien weggelassen>|<Médias omis>|<Média omis>|<Fichier omis>
<Multimedia omitido>|<Archivo omitido>|<Mídia oculta>|<Mídia omitida>|<Arquivo de mídia oculto>
<Ficheiro não revelado>|<Media omessi>|<Media omesso>|<Media weggelaten>|<Без медиафайлов>|<Файл пропущен>
<pominięto multimedia>|<pliki pominięto>|<Medya atlanmış>|<Medya dahil edilmedi>|<Media har utelämnats>
<Media tidak disertakan>|<تم استبعاد الوسائط>|<मीडिया के बिना>|<メディアは含まれていません>|<メディアなし>
<省略多媒体文件>|<媒体省略>|<忽略多媒體檔>|<省略多媒體檔案>|<미디어 파일을 생략한 대화내용>
<미디어 파일 제외됨>
""")
"""Android's word for any file of an export without media."""

OMITTED: dict[str, frozenset[str]] = {
    "image": _set("""
        image omitted|Bild weggelassen|image absente|imagen omitida|imagem ocultada|imagem omitida
        immagine omessa|afbeelding weggelaten|изображение отсутствует|obraz pominięty
        görüntü dahil edilmedi|bild utesluten|gambar tidak disertakan|画像は含まれていません|图片已忽略
        圖片已略去|이미지 생략됨
        """),
    "video": _set("""
        video omitted|Video weggelassen|vidéo absente|video omitido|vídeo omitido|vídeo ocultado
        video omesso|video weggelaten|видео отсутствует|film pominięty|video dahil edilmedi
        video utesluten|video tidak disertakan|ビデオは含まれていません|视频已忽略|影片已略去
        동영상 생략됨
        """),
    "video note": _set("""
        video note omitted|Videonachricht weggelassen
        """),
    "audio": _set("""
        audio omitted|Audio weggelassen|audio omis|audio absent|audio omitido|áudio ocultado|audio omesso
        audio weggelaten|аудиофайл отсутствует|audio pominięte|ses dahil edilmedi|ljud utelslutet
        audio tidak disertakan|音声は含まれていません|音频已忽略|語音訊息已略去|오디오 생략됨
        """),
    "sticker": _set("""
        sticker omitted|Sticker weggelassen|sticker omis|sticker omitido|figurinha omitida
        sticker non incluso|sticker weggelaten|стикер не добавлен|pominięto naklejkę
        çıkartma dahil edilmedi|sticker utesluten|stiker tidak disertakan|スタンプは含まれていません
        贴图已省略|貼圖已略去|스티커 제외됨
        """),
    "gif": _set("""
        GIF omitted|GIF weggelassen|GIF retiré|GIF omitido|GIF omitida|GIF esclusa|GIF weggelaten
        GIF отсутствует|Plik GIF pominięty|GIF dahil edilmedi|GIF utesluten|GIF tidak disertakan
        GIFは含まれていません|GIF 动态图已被忽略|GIF 已略去|GIF 생략됨
        """),
    "contact": _set("""
        Contact card omitted|Kontaktkarte ausgelassen|Fiche contact manquante|Tarjeta de contacto omitida
        Cartão do contato omitido|Scheda contatto omessa|Visitekaartje weggelaten
        Карточка контакта отсутствует|Pominięta wizytówka kontaktu|Kişi kartı dahil edilmedi
        Kontaktkort uteslutet|Kartu kontak tidak disertakan|連絡先カードを省略|联系人卡片已忽略
        聯絡人卡片已略去|연락처 카드 생략됨
        """),
    "file": _set("""
        document omitted|Dokument weggelassen|document manquant|documento omitido|documento omesso
        document weggelaten|документ отсутствует|dokument pominięty|belge dahil edilmedi
        dokument uteslutet|dokumen tidak disertakan|ドキュメントは含まれていません|文档已省略|文件已略去
        문서 생략됨
        """),
}
"""An iPhone's words for what it left out, by what it was; those of a document stand after its name."""

ATTACHED = _set("""
file attached|Datei angehängt|fichier joint|archivo adjunto|archivo adjuntado|arquivo anexado
ficheiro anexado|file allegato|bestand bijgevoegd|файл добавлен|załączony plik|dosya ekli|bifogad fil
file terlampir|الملف مرفق|फाइल अटैच कर दी गई है|添付ファイル有り|添付ファイル|文件附件|附件檔案
파일 첨부됨
""")
"""Android's, in parentheses after a file's name."""

ATTACHED_AS = _set("""
attached|angehängt|Anhang|pièce jointe|adjunto|anexado|anexo|allegato|bijgevoegd|прикреплено|załączono
eklendi|bifogat|terlampir|المُرفق|अटैच किया गया|添付ファイル|附件|첨부됨
""")
"""An iPhone's, before a file's name: `<attached: 00000012-PHOTO.jpg>`."""

DELETED = _set("""
This message was deleted|This message has been removed|You deleted this message
Waiting for this message. This may take a while|Waiting for this message
Diese Nachricht wurde gelöscht|Du hast diese Nachricht gelöscht
Ce message a été supprimé|Vous avez supprimé ce message|Se eliminó este mensaje|Este mensaje fue eliminado
Eliminaste este mensaje|Mensagem apagada|Esta mensagem foi apagada|Você apagou esta mensagem
Apagou esta mensagem|Questo messaggio è stato eliminato|Hai eliminato questo messaggio
Dit bericht is verwijderd|U hebt dit bericht verwijderd|Je hebt dit bericht verwijderd
Данное сообщение удалено|Это сообщение удалено|Вы удалили данное сообщение|Вы удалили это сообщение
Ta wiadomość została usunięta|Usunięto tę wiadomość|Bu mesaj silindi|Bu mesajı sildiniz
Det här meddelandet raderades|Du raderade det här meddelandet|Pesan ini telah dihapus|Pesan ini dihapus
Anda telah menghapus pesan ini|Anda menghapus pesan ini|تم حذف هذه الرسالة|لقد حذَفت هذه الرسالة
यह मैसेज डिलीट कर दिया गया है|आपने यह मैसेज डिलीट किया|このメッセージは削除されました
このメッセージを削除しました|这条消息已被删除|您已删除这条消息|此訊息已刪除|您已刪除此訊息
이 메시지는 삭제되었습니다|이 메시지를 삭제했습니다|삭제한 메시지입니다
""")
"""The whole of a message that its sender took back, or that never arrived."""

EDITED = _set("""
This message was edited|Diese Nachricht wurde bearbeitet|Ce message a été modifié|Se editó este mensaje
Este mensaje fue editado|Mensagem editada|Esta mensagem foi editada|Questo messaggio è stato modificato
Dit bericht is bewerkt|Данное сообщение изменено|Сообщение изменено|Wiadomość została zmieniona
Bu mesaj düzenlendi|Det här meddelandet har redigerats|Pesan ini diedit|تم تعديل هذه الرسالة
このメッセージは編集されました|此消息已编辑|此訊息已編輯|이 메시지는 수정되었습니다
""")
"""What follows an edited message in angle brackets."""

NAMED = (
    *("WhatsApp Chat with {}", "WhatsApp Chat - {}", "WhatsApp-Chat mit {}", "WhatsApp Chat mit {}"),
    *("Discussion WhatsApp avec {}", "Chat de WhatsApp con {}", "Conversación de WhatsApp con {}"),
    *("Conversa do WhatsApp com {}", "Conversa no WhatsApp com {}", "Chat WhatsApp con {}"),
    *("WhatsApp-chat met {}", "WhatsApp-gesprek met {}", "Чат WhatsApp с {}", "Czat WhatsApp z {}"),
    *("{} ile WhatsApp Sohbeti", "WhatsApp-chatt med {}", "WhatsApp-samtale med {}", "WhatsApp chat med {}"),
    *("Chat WhatsApp dengan {}", "Trò chuyện WhatsApp với {}", "دردشة واتساب مع {}"),
    *("{} के साथ WhatsApp चैट", "{}とのWhatsAppチャット", "WhatsApp 与 {} 的对话", "WhatsApp 與 {} 的對話"),
    "{}님과의 WhatsApp 대화",
)
"""How an export's file is named after the chat, without its suffix."""

CALLS = tuple(
    sorted(
        _set("""
missed voice call|missed video call|missed group call|voice call|video call|Verpasster Sprachanruf
Verpasster Videoanruf|Sprachanruf|Videoanruf|Appel vocal|Appel vidéo|Appel manqué|Llamada perdida
Llamada de voz|Videollamada|Chamada de voz|Chamada de vídeo|Ligação de voz|Ligação de vídeo|Chiamata persa
Chiamata vocale|Videochiamata|Gemiste spraakoproep|Gemiste video-oproep|Spraakoproep|Video-oproep
""")
    )
)
"""How an iPhone's words for a call begin."""

ENCRYPTED = _set("""
end-to-end|Ende-zu-Ende|bout en bout|extremo a extremo|ponta a ponta|сквозным шифрованием|szyfrowan|uçtan uca
totalsträckskrypt|enkripsi|تشفير|مشفرة|एंड-टू-एंड|エンドツーエンド|端到端|端對端|종단간
""")
"""What stands in an iPhone's notice that it encrypts."""
