"""Spellings of secrets by kind, as people paste them: every value is made up here, for the shape of it alone.

In a template § stands for a value: a letter for its alphabet, and its length. ¦ parts the templates of a line.
"""

# ruff: noqa: E501 - a template stands on one line

import random
import re
import string

import pytest

from smartsearch.text.redact import redacted

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "-_",
    "D": string.digits,
    "H": "0123456789abcdef",
    "L": string.ascii_lowercase,
    "N": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "U": string.ascii_uppercase + string.digits,
    "X": string.ascii_uppercase + "234567",
}
WORDS = [
    *("apple", "bear", "cat", "delta", "ember", "flower", "garden", "hotel", "island", "jungle", "kitten"),
    *("lemon", "magnet", "noble", "orange"),
]
VALUE = re.compile(r"§([A-Z])([0-9]*)")

VENDORS = """
GOCSPX-§B28 pypi-AgEIcHlwaS5vcmc§B60 hvs.§B24 hvb.§B90 hvr.§B24 1//0g§B60 1//03§B60 lsv2_pt_§H32_§H10
lsv2_sk_§H32_§H10 secret_§A43 ntn_§A46 sq0atp-§B22 sq0csp-§B43 rzp_live_§A14 key-§H32 re_§A8_§A24
xkeysib-§H64-§A16 §H32-us12 PMAK-§H24-§H34 dapi§H32 dp.pt.§A43 dp.st.prd.§A43 fm2_§B80 pul-§H40
rubygems_§H48 cio§A32 oy2§L43 glrt-§B20 glagent-§B50 gloas-§B64 LTAI5t§A18 AKID§A32 abc8Q~§B34 r8_§A37
tvly-§A32 csk-§L20§D20 jina_§A60 pcsk_§A60 e2b_§H40 fc-§H32 sk_§H48 v1.0-§H24-§H146 ops_eyJ§B200
A3-§U6-§U6-§U5-§U5-§U5-§U5 nfp_§A36 sntrys_eyJ§B60 sntryu_§H64 phx_§A43 ATBB§A32 ATCTT3xFf§A60 EAAG§A100
EAAA§B60 IGQVJ§A120 AAAAAAAAAAAAAAAAAAAAA§A60 xoxe.xoxp-1-§A60 xwfp-§D11-§A20 FwoGZXIvYXdz§A120
IQoJb3JpZ2lu§A120 ABSKQmVkcm9ja0FQSUtleS§A90 sqp_§H40 squ_§H40 mfa.§B84 MT§A24.G§A5.§B38
sk.eyJ1Ijoi§A60.§B22 access_token$production$§L16$§H32 sl.u.§B140 CLOJARS_§H60 HRKU-§B60 EZAK§A54
FLWSECK_TEST-§H32-X duffel_live_§B43 lin_oauth_§H64 NRII-§B32 §A14.atlasv1.§B67 shippo_live_§H40 vcp_§A56
AKCp§A69 cmVmdGtu§A52 eyJrIjoi§A80 glc_§A60 sb_secret_§B31 pscale_tkn_§B43 pscale_pw_§B43 napi_§A64 rnd_§A28
sgp_§H16_§H40 bkua_§H40 CCIPAT_§A22_§H40 secret-token:§B30 AQVN§B36 t1.§B40.§B80 y0_§B58
amzn.mws.§H8-§H4-§H4-§H4-§H12 amzn1.oa2-cs.v1.§H64 Atzr|§B120 xprv§N107 nsec1§L29§D29 S§X55 5§N50 ASIA§X16
ghp_§A36 sk-svcacct-§B60 waka_§H8-§H4-§H4-§H4-§H12 up_§A40 api_org_§L34 dckr_oat_§A32
"""

NAMES = """
STRIPE_KEY=§A24 ¦ export MY_APP_KEY="§A16" ¦ NEXTAUTH_SECRET=§A20 ¦ REDIS_AUTH=§A12 ¦ WPA_PSK=§A12
psk="§P" ¦ wpa_psk: §P ¦ PSK: §P ¦ "deployKey": "§A24" ¦ 'storageKey': '§A40' ¦ deploy_key: §H40
SENTRY_AUTH=§H32 ¦ _auth=§A32 ¦ _auth: §A32 ¦ //registry.test/:_authToken=§B36 ¦ SHARED_KEY: §A24
x-functions-key: §A40 ¦ Ocp-Apim-Subscription-Key: §H32 ¦ SharedAccessKey=§A43= ¦ AccountKey=§A86==
APP_KEY=base64:§A43= ¦ SECRET_KEY_BASE=§H64 ¦ JWT_SECRET: §A24 ¦ SESSION_SECRET: "§L24" ¦ webhookSecret=§A32
ENCRYPTION_KEY=§H64 ¦ FERNET_KEY=§B43= ¦ $env:OPENAI_KEY = "§A24" ¦ setx MAPS_KEY §A24 ¦ set DB_KEY=§A16
ENV GEMINI_KEY §A24 ¦ --set image.key=§A20 ¦ -e SOME_KEY=§A20 ¦ __Password__: §P ¦ password....: §P
password|§P ¦ password • §P ¦ password: ```§P``` ¦ password:⏎```text⏎§P⏎``` ¦ The password is:⏎⏎```⏎§P⏎```
Here is the password for the wifi:⏎⏎```⏎§P⏎``` ¦ let password: &str = "§P"; ¦ const password: string = "§P";
password: Optional[str] = '§P' ¦ password = new String("§P") ¦ password: !!str §P
"password": {"value": "§P"} ¦ "password": ["§P", "§P"] ¦ password: <span class="x">§P</span>
os.getenv("PASSWORD", "§P") ¦ ["--password", "§P"] ¦ process.env.PASSWORD || "§P"
user,password⏎ann,§P⏎bob,§P ¦ user§Tpassword§Tage⏎ann§T§P§T9 ¦ | user | password |⏎|---|---|⏎| ann | §P |
parola: §P ¦ kata sandi: §P ¦ पासवर्ड: §P ¦ κωδικός: §P ¦ os.environ["WEATHER_KEY"] = "§A20"
const apiKey = '§A20'; ¦ val mapsKey = "§A20" ¦ define('AUTH_KEY', '§A40');
define("SECURE_AUTH_SALT", "§A40"); ¦ PrivateKey = §A43= ¦ PresharedKey = §A43= ¦ client-key-data: §A80
tls.key: §A80 ¦ "d": "§B43", "kty": "EC" ¦ "kty":"oct","k":"§B43" ¦ GITHUB_TOKEN: §A24 ¦ BOT_TOKEN = '§A24'
token: "§A24" ¦ access-token §A24 ¦ refresh_token=§A24 ¦ my token's §A24 ¦ the secret key is §A24
license key: §U5-§U5-§U5-§U5 ¦ product key §U5-§U5-§U5-§U5-§U5 ¦ Serial/licence key = §U5-§U5-§U5
ssid=home psk=§P ¦ network key: §P ¦ wireless key: §P ¦ WEP key: §H10 ¦ WLAN-Key: §P ¦ netzwerkschlüssel: §P
Freischaltcode: §P ¦ PGPASSWORD='§P' psql ¦ MYSQL_ROOT_PASSWORD: §P ¦ spring.security.user.password: §P
"Pwd": "§P" ¦ pwd=§P; ¦ Pwd is §P ¦ PASSWORD§T§P ¦ Password : §P ¦ pass word: §P ¦ pass-word = §P
P@ssword: §P ¦ passw0rd: §P ¦ p/w: §P ¦ p.w.: §P ¦ PW §P ¦ pwrd: §P ¦ psswd: §P ¦ pasword: §P ¦ passowrd: §P
Passwrd: §P ¦ login pw: §P ¦ wifi pw is §P ¦ wifi: §P ¦ wi-fi code: §P ¦ the wifi's §P ¦ user ann pass §P
username: ann, password: §P ¦ u: ann p: §P ¦ user=ann&pass=§P ¦ ann / §P are the login details
creds: ann §P ¦ root:§P is the login ¦ SNMP community: §P ¦ community string is §P
enable secret 5 $1$§A4$§A22 ¦ username ann privilege 15 secret 0 §P ¦ $2b$12$§A53 ¦ $6$§A8$§A86
ann:$apr1$§A8$§A22 ¦ {SSHA}§A32=
"""

ADDRESSES = """
https://x.test/cb?code=§A24&state=1 ¦ https://x.test/cb?state=1&code=4/0A§B60 ¦ PHPSESSID=§L26
Cookie "PHPSESSID=§A26" ¦ JSESSIONID=§U32 ¦ ;jsessionid=§U32 ¦ ASP.NET_SessionId=§L24
connect.sid=s%3A§A32.§A40 ¦ sessionid=§A32 ¦ sid=§A24 ¦ session_id: §A32 ¦ csrftoken=§A32 ¦ XSRF-TOKEN=§A32
laravel_session=§A60 ¦ _session_id=§H32 ¦ li_at=§B60 ¦ https://§H40@github.test/x/y.git
https://§A24:x-oauth-basic@github.test/x/y.git ¦ https://oauth2:§A24@gitlab.test/x.git
https://ann:§P@x.test:8443/p?q=1 ¦ ftp://ann:§P@x.test ¦ smb://dom;ann:§P@x.test/s
mongodb+srv://ann:§P@c.test/db ¦ amqp://:§P@x.test ¦ jdbc:mysql://x.test/db?user=ann&password=§P
jdbc:oracle:thin:ann/§P@x.test:1521 ¦ https://§H32@o1.ingest.test/42 ¦ https://x.test/?key=§A32
https://x.test/?apikey=§A32 ¦ https://x.test/?auth=§A32 ¦ https://x.test/?api_key=§A32&b=1
https://x.test/?access_token=§A32 ¦ https://x.test/#access_token=§A32&b=1 ¦ https://x.test/#id_token=§A32
https://x.test/?X-Amz-Security-Token=§A60 ¦ https://x.test/?X-Amz-Signature=§H64
https://x.test/?AWSAccessKeyId=AKIA§X16&Signature=§A27%3D ¦ https://x.test/j/123?pwd=§A20
https://x.test/?otp=§D6 ¦ https://x.test/reset-password/§A32 ¦ https://x.test/reset?t=§A32
https://x.test/users/password/edit?reset_password_token=§B20 ¦ https://x.test/magic-link/§A40
https://x.test/invite?ticket=§A32 ¦ https://x.test/?hmac=§H64 ¦ https://x.test/?sig=§A43%3D
https://api.telegram.org/bot§D9:AA§B33/getMe ¦ https://hooks.zapier.test/hooks/catch/1/?secret=§A20
https://outlook.office.test/webhook/x?jwt=§A40 ¦ https://discord.com/api/webhooks/§D18/§B68
https://hooks.slack.com/triggers/T0/1/§H32 ¦ otpauth://totp/x:ann?secret=§X32&issuer=x
otpauth-migration://offline?data=§A60 ¦ WIFI:T:WPA;S:home;P:§P;; ¦ WIFI:S:home;T:WPA2;P:"§P";H:true;;
wifi:P:§P;S:home;; ¦ ssh://ann:§P@x.test ¦ socks5://ann:§P@127.0.0.1:9050 ¦ ss://§A40@x.test:8388
vmess://§A80 ¦ curl x.test/?client_secret=§A20
"""

SHELL = """
unzip -P §P a.zip ¦ unzip -o -P '§P' a.zip ¦ zip -P §P -r a.zip b ¦ 7z x -p§P a.7z ¦ 7za a -p"§P" a.7z b
rar a -hp§P a.rar ¦ unrar x -p§P a.rar ¦ openssl enc -d -k §P -in a ¦ openssl rsa -passin pass:§P
openssl pkcs12 -passout pass:§P ¦ lftp -u ann,§P x.test ¦ smbclient //x/y -U ann%§P
mount -t cifs //x/y /m -o username=ann,password=§P ¦ net use z: \\\\x\\y §P /user:ann ¦ net user ann §P /add
xfreerdp /u:ann /p:§P /v:x ¦ rdesktop -u ann -p §P x ¦ redis-cli -a §P ¦ redis-cli -h x --pass §P
mongo -u ann -p §P ¦ mongosh --username ann -p §P ¦ mongodump -u ann -p §P ¦ ldapsearch -D cn=ann -w §P
sqlplus ann/§P@db ¦ sqlcmd -S x -U sa -P §P ¦ az login -u ann -p §P ¦ az login --service-principal -p §P
echo §P | sudo -S ls ¦ echo '§P' | docker login --password-stdin ¦ printf "§P" | sudo -S ls
htpasswd -b f ann §P ¦ htpasswd -bc f ann §P ¦ echo "ann:§P" | chpasswd ¦ chpasswd <<< "ann:§P"
mosquitto_pub -u ann -P §P -t x ¦ ipmitool -H x -U ann -P §P ¦ ssh-keygen -p -P §P -N '§P'
auth=("ann", "§P") ¦ svn co --username ann --password §P ¦ curl --oauth2-bearer §A32 x.test
curl -u ann:§P x.test ¦ curl -uann:§P x.test ¦ curl --user 'ann:§P' x.test ¦ curl --proxy-user ann:§P x.test
http -a ann:§P x.test ¦ wget --http-password=§P x.test ¦ wget --user=ann --password='§P'
gpg --batch --passphrase §P -d a ¦ keytool -storepass §P ¦ keytool -keypass §P ¦ jarsigner -storepass '§P'
cmdkey /add:x /user:ann /pass:§P ¦ plink -ssh ann@x -pw §P ¦ pscp -pw §P a b ¦ vault login §A26
vault token lookup §A26 ¦ kubectl create secret generic x --from-literal=password=§P
kubectl create secret generic x --from-literal=key=§A20 ¦ docker login -u ann -p §P
docker login -u ann --password=§P ¦ docker run -e POSTGRES_PASSWORD=§P x ¦ mysql -uroot -p§P
mysqldump -u root --password=§P ¦ psql "host=x password=§P" ¦ sshpass -p '§P' ssh x
SSHPASS=§P sshpass -e ssh x ¦ nmcli dev wifi connect home password §P
nmcli con modify home wifi-sec.psk §P ¦ wpa_passphrase home §P ¦ networksetup -setairportnetwork en0 home §P
security add-generic-password -a ann -w §P ¦ expect "assword:" { send "§P\\r" } ¦ set password "§P"
ansible-playbook -e ansible_password=§P ¦ ConvertTo-SecureString "§P" -AsPlainText -Force
New-Object PSCredential("ann", (ConvertTo-SecureString '§P')) ¦ ALTER USER ann WITH ENCRYPTED PASSWORD '§P';
CREATE USER ann IDENTIFIED WITH mysql_native_password BY '§P';
GRANT ALL ON *.* TO 'ann'@'%' IDENTIFIED BY "§P"; ¦ CREATE LOGIN ann WITH PASSWORD = N'§P'; ¦ requirepass §P
masterauth §P ¦ bindpw §P ¦ rootpw §P ¦ git clone https://§A40@github.test/x
gh auth login --with-token <<< §A40 ¦ npm config set //r.test/:_authToken §A36
aws configure set aws_secret_access_key §A40 ¦ heroku config:set SECRET_KEY=§A24
"""

HEADERS = """
Authorization: Digest username="ann", realm="x", nonce="n", uri="/", response="§H32"
Authorization: AWS4-HMAC-SHA256 Credential=AKIA§X16/20240101/x/s3/aws4_request, SignedHeaders=host, Signature=§H64
Authorization: SharedKey acct:§A43= ¦ Authorization: Splunk §H32
Authorization: OAuth oauth_consumer_key="k", oauth_signature="§A27%3D" ¦ Authorization: Basic §A24==
Authorization: token §A20 ¦ Authorization=Bearer §A20 ¦ authorization : bearer §A20
"authorization": "§A32" ¦ Proxy-Authorization: Basic §A24 ¦ X-Auth-Token: §A24 ¦ X-Auth-Key: §H37
X-Vault-Token: §A26 ¦ PRIVATE-TOKEN: §B20 ¦ X-Shopify-Access-Token: §H32 ¦ apikey: §A24
Set-Cookie: a=§A24; Path=/ ¦ Cookie: a=1; session=§A24 ¦ Cookie: theme=dark; sid=§A24
cookies = {'sessionid': '§A32'} ¦ X-CSRF-Token: §A32 ¦ X-Hub-Signature-256: sha256=§H64
Stripe-Signature: t=1,v1=§H64 ¦ X-Slack-Signature: v0=§H64 ¦ -H 'X-API-KEY: §A20'
headers={"x-api-key": "§A20"} ¦ headers = {'Authorization': f'Bearer §A20'} ¦ Bearer §A40 ¦ bearer:§A40
WWW-Authenticate x; Authorization: Negotiate §A60
"""

SPOKEN = """
your one-time password is §D3 §D3 ¦ one time password: §D6 ¦ one-time passcode is §D6 ¦ OTP is §D6
the otp §D6 ¦ use §D6 to verify your account ¦ Use code §D6 to log in ¦ Enter §D6 to sign in
G-§D6 is your verification code ¦ your code: §D6 ¦ login code: §D5 ¦ Your login code is §D5 ¦ 2FA code §D6
the 2fa is §D6 ¦ auth code is §D6 ¦ sms code §D6 ¦ the sms code is §D6 ¦ verification code §D6
security code §D6 ¦ my pin is §D4 ¦ pin number: §D4 ¦ the pin's §D4 ¦ PIN §D4 ¦ pin code is §D4
card pin = §D4 ¦ PUK: §D8 ¦ PUK §D8 ¦ the puk is §D8 ¦ puk code: §D8 ¦ PUK1 §D8 ¦ PIN2: §D4 ¦ passcode §D6
my passcode is §D4 ¦ phone passcode: §D6 ¦ unlock code is §D6 ¦ the alarm code is §D4 ¦ door code: §D4
gate code §D4 ¦ safe combination: §D2-§D2-§D2 ¦ keypad code is §D4 ¦ cvv §D3 ¦ cvc: §D3
security code on the back is §D3 ¦ recovery key: §U4-§U4-§U4-§U4-§U4-§U4
recovery key is EsT§N1 §N4 §N4 §N4 §N4 §N4 ¦ my recovery key: §U28
Recovery Key:⏎§D6-§D6-§D6-§D6-§D6-§D6-§D6-§D6 ¦ bitlocker §D6-§D6-§D6-§D6-§D6-§D6-§D6-§D6
FileVault: §U4-§U4-§U4-§U4-§U4-§U4 ¦ recovery code: §A5-§A5 ¦ recovery codes: §A5-§A5 §A5-§A5 §A5-§A5
backup code: §D4 §D4 ¦ backup codes:⏎§D8⏎§D8⏎§D8 ¦ backup codes⏎1. §D4 §D4⏎2. §D4 §D4
Backup codes: §D8, §D8, §D8 ¦ my backup codes are §H8 and §H8 ¦ recovery codes⏎§H5-§H5⏎§H5-§H5
scratch codes: §D8 §D8 ¦ emergency code §D8 ¦ Secret Key: A3-§U6-§U6-§U5-§U5-§U5-§U5 ¦ seed phrase: §W12
Seed phrase:⏎§W12 ¦ seed phrase is §W12 ¦ my seed is §W12 ¦ seed words: §W24 ¦ recovery phrase = "§W12"
my 12 words: §W12 ¦ 24 words: §W24 ¦ secret recovery phrase⏎§W12 ¦ wallet phrase: §W12 ¦ mnemonic: §W12
mnemonic phrase §W12 ¦ Wiederherstellungsphrase: §W12 ¦ the password is §P. ¦ passwords are §P and §P
passwords: §P, §P ¦ the password is probably §P or §P ¦ the password was changed from §P to §P
the password should be §P ¦ the password has been reset to §P ¦ the password (for the wifi) is §P
the password, by the way, is §P ¦ Geheimzahl: §D4 ¦ 暗証番号は§D4 ¦ 您的验证码是§D6 ¦ pw's §P ¦ pwd's §P ¦ pass is §P
passwort ist §P ¦ das passwort is §P ¦ passwort §P ¦ mein PW: §P ¦ Kennwort lautet §P ¦ mot de passe §P
mdp §P ¦ contraseña es §P ¦ la contra es §P ¦ senha é §P ¦ wachtwoord is §P ¦ hasło to §P ¦ пароль §P
пароль - §P ¦ 密码 §P ¦ パスワードは§P ¦ 비번 §P ¦ 비밀번호는 §P ¦ Login: ann Password: §P ¦ login ann@x.test / §P
ann@x.test:§P ¦ ann@x.test | §P ¦ it's §P (the wifi password) ¦ §P - that's the password ¦ §P <- password
use §P as password ¦ password set to §P ¦ new password: §P ¦ temp password §P ¦ temporary password is "§P"
default pw §P ¦ my password used to be §P ¦ changed it to §P, the password I mean ¦ the passphrase is "§W12"
sudo password: §P ¦ admin/§P is the router login ¦ master password → §P ¦ security answer: §P
secret answer is §P ¦ the combination is §D2 §D2 §D2 ¦ my ssn pin is §D4 ¦ PIN: four eight two one
my pin is four eight two one ¦ the code is four eight three nine two zero, verification code I mean
"""

LINES = """
1. apple⏎2. bear⏎3. cat⏎4. delta⏎5. ember⏎6. flower⏎7. garden⏎8. hotel⏎9. island⏎10. jungle⏎11. kitten⏎12. lemon
seed phrase:⏎1. apple⏎2. bear⏎3. cat⏎4. delta⏎5. ember⏎6. flower⏎7. garden⏎8. hotel⏎9. island⏎10. jungle⏎11. kitten⏎12. lemon
seed phrase: 1. apple 2. bear 3. cat 4. delta 5. ember 6. flower 7. garden 8. hotel 9. island 10. jungle 11. kitten 12. lemon
seed phrase: 1) apple 2) bear 3) cat 4) delta 5) ember 6) flower 7) garden 8) hotel 9) island 10) jungle 11) kitten 12) lemon
recovery phrase:⏎apple⏎bear⏎cat⏎delta⏎ember⏎flower⏎garden⏎hotel⏎island⏎jungle⏎kitten⏎lemon
recovery phrase⏎- apple⏎- bear⏎- cat⏎- delta⏎- ember⏎- flower⏎- garden⏎- hotel⏎- island⏎- jungle⏎- kitten⏎- lemon
seed phrase: apple, bear, cat, delta, ember, flower, garden, hotel, island, jungle, kitten, lemon
seed phrase: ["apple","bear","cat","delta","ember","flower","garden","hotel","island","jungle","kitten","lemon"]
"""
PIECES = """
ghp_§A12⏎§A24
use ghp_§A12⏎  §A24
ghp_§A12\\⏎§A24
sk-proj-§A20⏎§A20⏎§A20
> sk-§A24⏎> §A24
AIza§A10⏎§A25
AKIA§X6⏎§U10
Bearer §A30⏎§A30
api_key: §A30⏎§A30
eyJ§A20.eyJ§A20⏎§A20.§B43
eyJ§A20⏎.eyJ§A40.§B43
token=§A40\\⏎§A40
xoxb-§D11-§D6⏎§D6-§A24
PuTTY-User-Key-File-2: ssh-rsa⏎Encryption: none⏎Comment: x⏎Public-Lines: 1⏎AAAAB3NzaC1yc2E⏎Private-Lines: 2⏎§A64⏎§A40⏎Private-MAC: §H40
Private-Lines: 2⏎§A64⏎§A64
-----BEGIN OPENSSH PRIVATE KEY-----⏎§A70⏎§A70⏎-----END OPENSSH PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎§A64⏎=§A4⏎-----END PGP PRIVATE KEY BLOCK-----
-----BEGIN RSA PRIVATE KEY-----\\n§A64\\n§A64\\n-----END RSA PRIVATE KEY-----
"private_key": "-----BEGIN PRIVATE KEY-----\\n§A64\\n-----END PRIVATE KEY-----\\n"
---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----⏎§A64⏎---- END SSH2 ENCRYPTED PRIVATE KEY ----
-----BEGIN ENCRYPTED PRIVATE KEY-----⏎§A64
> -----BEGIN EC PRIVATE KEY-----⏎> §A64⏎> -----END EC PRIVATE KEY-----
-----BEGIN OpenVPN Static key V1-----⏎§H32⏎§H32⏎-----END OpenVPN Static key V1-----
"""

GROUPS = {"vendors": VENDORS, "names": NAMES, "addresses": ADDRESSES, "shell": SHELL}
GROUPS |= {"headers": HEADERS, "spoken": SPOKEN, "lines": LINES, "pieces": PIECES}


def made(draw: random.Random, letter: str, length: str) -> str:
    """A value: of its alphabet, no character twice in a row, with a digit in its second place if it has any."""
    if letter == "P":
        return f"{draw.choice(('Blau', 'Gruen', 'Kiln', 'Moos'))}{draw.randint(10, 99)}{draw.choice('XYZ')}y{draw.randint(3, 9)}z"
    if letter == "W":
        return " ".join(draw.choice(WORDS) for _ in range(int(length)))
    if letter == "T":
        return "\t"
    alphabet = ALPHABETS[letter]
    value = [draw.choice(alphabet) for _ in range(int(length))]
    digits = [c for c in alphabet if c.isdigit()]
    if digits and len(value) > 2:
        value[1], value[-1] = draw.choice(digits), draw.choice(alphabet.replace("-", "").replace("_", ""))
    return "".join(value)


def written(template: str) -> tuple[str, list[str]]:
    """The text of a template, and the values that may not be shown."""
    draw, values = random.Random(template), []

    def value(found: re.Match[str]) -> str:
        text = made(draw, found[1], found[2])
        values.extend(text.split() if found[1] == "W" else [text.strip()])
        return text

    text = VALUE.sub(value, template.replace("⏎", "\n"))
    if template in LINES:
        values = WORDS[:12]
    elif " four eight " in template:
        values = ["four eight"]
    return text, [value for value in values if len(value) > 2]


def is_shown(template: str) -> bool:
    text, values = written(template)
    masked = redacted(text).casefold()
    marks = re.sub(r"\[redacted: [a-z -]+\]", "", masked)
    return any(value.casefold() in marks for value in values)


def cases(name: str) -> list[str]:
    lines = GROUPS[name].strip("\n").split("\n")
    return [one for line in lines for one in (line.split() if name == "vendors" else line.split(" ¦ "))]


SHOWN = {
    "names": {
        "REDIS_AUTH=§A12",  # short, and with one digit by chance
        "ann / §P are the login details",
        "root:§P is the login",
    },
    "spoken": {
        "security code on the back is §D3",
        "changed it to §P, the password I mean",
        "admin/§P is the router login",
        "the code is four eight three nine two zero, verification code I mean",
    },
    "lines": set(cases("lines")[:1]),  # twelve words that nobody calls a phrase
}
"""What is known to be shown, by group: no word in front of it says what it is."""


@pytest.mark.parametrize("name", GROUPS)
def test_what_is_pasted_is_masked(name: str):
    shown = {template for template in cases(name) if is_shown(template)}
    assert shown == SHOWN.get(name, set())
