"""The many ways in which the same secret is written down; every one here is invented."""

import pytest

from smartsearch.text.redact import redacted

PASSWORD, CODE = "[redacted: password]", "[redacted: one-time code]"
KEY = "a1B2c3D4e5F6g7H8i9J0"


@pytest.mark.parametrize(
    "text",
    [
        *('{"password": "§"}', r"{\"password\": \"§\"}", r'"{\"user\": \"ann\", \"password\": \"§\"}"'),
        *(r"{\\\"password\\\": \\\"§\\\"}", "{'password':'§'}", "password -> §", "password --> §"),
        *("password → §", "password => §", "<password>§</password>", "<db:password>§</db:password>"),
        *('<password type="plain">§</password>', "<password>\n  §\n</password>"),
        *('<property name="db.password">§</property>', "<key>password</key>\n<string>§</string>"),
        *("<tr><td>Password</td><td>§1</td></tr>", "<b>Password:</b> §"),
        *('<add key="password" value="§"/>', '{"name": "password", "value": "§"}'),
        *("- name: DB_PASSWORD\n  value: §", "password\u200b: §", "pass\u200bword: §"),
        *("pass\u00adword: §", "password\u2060:\u200e §", "\x1b[1mpassword\x1b[0m: §", "ｐａｓｓｗｏｒｄ：§"),
        *("𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: §", "password: |\n  §", "password: >-\n  §", 'password = """§"""', "password = “§”"),
        *("password (again): §", "the password is: §", "password          = §", "> password: §"),
        *("export DB_PASS='§'", "DB_PASSWORD=§", "MYSQL_PWD=§ mysqldump", "PGPASSWORD=§", 'db_pass: "§"'),
        *("spring.datasource.password=§", "Server=db;Uid=ann;Password=§"),
        *("CREATE USER ann IDENTIFIED BY '§'", "ALTER ROLE ann WITH PASSWORD '§'"),
        *("SET PASSWORD FOR 'ann'@'%' = '§'", "https://ann:§@example.test/x"),
        *("curl -u ann:§ https://x.test", "sshpass -p § ssh ann@x.test", "Kennwort: §"),
        *("Le mot de passe : §", "Contraseña: §", "WLAN-Schlüssel: §", "пароль: §", "密码：§"),
        *("| password | §1 |", "password\t§1", "password:\n  - §", "password&#58; §", r"password\u003a §"),
        *("login/password: §", "docker login -u ann -p §", "mysql -u root -p§"),
    ],
)
def test_a_password_that_is_called_one(text: str):
    secret = "hunter"
    assert redacted(text.replace("§", secret)) == text.replace("§1", "§").replace("§", PASSWORD)


@pytest.mark.parametrize(
    "text",
    [
        *("the password is §", "the password's §", "I changed the password to §"),
        *("password for the attic: §", "password - §", "Das Passwort lautet §", "le mot de passe est §"),
        *("la contraseña es §", "la clave es §", "mdp: §", "pw: §", "pass: §", "dbPass = §", "密码是§"),
        *("login: ann / §", "credentials: ann:§"),
    ],
)
def test_a_password_among_words_needs_a_digit_or_a_sign(text: str):
    assert redacted(text.replace("§", "Blau42")) == text.replace("§", PASSWORD)
    assert redacted(text.replace("§", "s@fe!one")) == text.replace("§", PASSWORD)
    assert "[redacted" not in redacted(text.replace("§", "wrong"))


@pytest.mark.parametrize(
    "text",
    [
        *("ENV PASSWORD §", "machine x.test login ann password §", "the password (§ or so)"),
        *("password:\n\n§", "Password\n§", "password「§」", 'passwords: ["§"]', '"passwords": {"ann": "§"}'),
        *("§ is my old wifi password", "use §, as the password"),
    ],
)
def test_a_password_without_a_sign_between_is_no_word_and_no_path(text: str):
    said = text.replace("§,", "§")
    assert redacted(said.replace("§", "Blau42")) == said.replace("§", PASSWORD)
    for other in ("wrong", "2024", "12/27/24", "a1.test/b2", "sha256"):
        assert "[redacted" not in redacted(said.replace("§", other)), other


@pytest.mark.parametrize(
    "text",
    [
        *("my api key is §", "X-Api-Key: §", r"{\"api_key\": \"§\"}"),
        *("<apiKey>§</apiKey>".replace("apiKey>", "api-key>"), "Authorization: §"),
        *("Authorization: ApiKey §", r"\"Authorization\": \"Bearer §\"", "Cookie: session=§"),
        *("https://hooks.slack.com/services/T000/B000/§", "https://x.test/file?sv=1&sig=§"),
        "AccountKey=§",
    ],
)
def test_a_token(text: str):
    masked = redacted(text.replace("§", KEY))
    assert KEY not in masked
    assert "[redacted: " in masked


@pytest.mark.parametrize(
    "text",
    [
        *("Your verification code is §", "Your verification code: §"),
        *("§ is your Google verification code", "Your Steam code is §.", "OTP: §", "TAN: §"),
        *("login code for ann: §", "Dein Bestätigungscode lautet §", "Votre code de vérification est §"),
        *("Su código de verificación es §", "验证码：§"),
    ],
)
def test_a_code_for_one_time(text: str):
    assert redacted(text.replace("§", "483920")) == text.replace("§", CODE)
    assert redacted(text.replace("§", "483 920")) == text.replace("§", CODE)


@pytest.mark.parametrize("number", ["4111{0}1111{0}1111{0}1111", "3782{0}822463{0}10005"])
@pytest.mark.parametrize("gap", ["", " ", "  ", ".", "-", " - ", "–", "\u00a0", "\u2009", "\t"])
def test_a_card_number_however_it_is_grouped(number: str, gap: str):
    assert redacted(f"it is {number.format(gap)}, ok") == "it is [redacted: card number], ok"


@pytest.mark.parametrize("number", ["٤١١١ ١١١١ ١١١١ ١١١١", "４１１１１１１１１１１１１１１１"])
def test_other_digits_than_our_own(number: str):
    assert redacted(number) == "[redacted: card number]"


@pytest.mark.parametrize("gap", ["", " ", "  ", ".", "-"])
def test_an_account_number_however_it_is_grouped(gap: str):
    assert redacted(gap.join(["DE89", "3704", "0044", "0532", "0130", "00"])) == "[redacted: iban]"


def test_what_nobody_sees_stays_outside_of_the_mark():
    shown = f"a\u200bb password\u200b: {PASSWORD}\u200b ok"
    assert redacted("a\u200bb password\u200b: hun\u200bter2\u200b ok") == shown


@pytest.mark.parametrize(
    "text",
    [
        "pass: 12, fail: 3. PASS: test_parse1",
        "the password to the attic is a secret; the key point is a token of love",
        "Area code: 30123, zip code is 90210, error code: 404123, promo code: 2024",
        "90210 is your zip code, 404123 is your error code",
        *('getent passwd "$USER"; echo "password is ${PASS}"', "it is a password with sha256 or base64"),
        *("def f(secret) -> None: pass", "password -> str"),
        "<label for='password'>Password</label><input type='password'>",
        "<a href='/password'>Reset</a> <password></password>",
        "private_key(self) -> PrivateKey:\n    '''Makes a private key for 12 people.'''",
        *("identified by '1st name'", "1234.5678.9012.3456 and 4111.1111.1111.1112"),
        "12.05.2024 13:56, 192.168.100.200, v1.2.3, 3.14159265358979",
        "e\u0301 👩\u200d👩\u200d👧 می\u200cخواهم ８ ½",
    ],
)
def test_what_is_no_secret_stays(text: str):
    assert redacted(text) == text
