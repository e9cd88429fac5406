"""Words and short phrases in -> others that mean the same in talk about software out. Pure.

The table holds the working language of programming and hosting: Persian words beside the English
ones that documentation uses, spoken words beside written ones, abbreviations beside what they
stand for. It holds no product's page titles and no list of product names; those that sound alike
in both scripts are bridged by `transliteration`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refdesk.ranking import analysis, persian

LONGEST: Final = 3
"""Words of the longest phrase looked up."""

_TABLE: Final = """
# storing and data
پایگاه داده, دیتابیس, بانک اطلاعاتی, database, db
دیسک, هارد, فضای ذخیره, disk, volume, storage
ذخیره, سیو, نگهداری, save, store, persist
ماندگار, دائمی, پایدار, persistent, permanent
فضای ابری, ذخیره سازی ابری, object storage, s3
باکت, سطل, bucket
فایل, پرونده, file
پوشه, فولدر, دایرکتوری, شاخه, folder, directory
فایل سیستم, سیستم فایل, filesystem, file system
مسیر, path, route, mount
پشتیبان, پشتیبان گیری, بکاپ, بک اپ, نسخه پشتیبان, backup, dump
بازگردانی, بازیابی, ریستور, برگرداندن, restore, recover
اسنپ شات, تصویر لحظه ای, snapshot
وارد کردن, ایمپورت, درون ریزی, import
خروجی, اکسپورت, برون بری, export
انتقال, جابجایی, مهاجرت, کوچ, منتقل, migrate, migration, move, transfer
جدول, تیبل, table
ستون, فیلد, column, field
رکورد, ردیف, record, row
کوئری, پرس و جو, query
نمایه, ایندکس, index
تراکنش, transaction
کش, نهان, حافظه نهان, cache, caching
صف, queue
نشست, سشن, session
کلید, key
مقدار, value
مخزن, ریپازیتوری, ریپو, repository, repo, registry
همگام, همگام سازی, سینک, sync, synchronize
حجم, سایز, اندازه, ظرفیت, size, volume, capacity
پاک, حذف, پاک کردن, حذف کردن, delete, remove, drop, erase
ناپدید, غیب, پریدن, از بین رفتن, lost, disappear, vanish, missing
ویرایش, ادیت, اصلاح, edit, modify
تغییر, عوض, تعویض, change, modify, replace
افزودن, اضافه, اضافه کردن, add, append
ایجاد, ساختن, ساخت, درست کردن, create, make
مشاهده, دیدن, ببینم, نمایش, view, see, show, display
لیست, فهرست, list
جستجو, سرچ, search, find
انتخاب, choose, select
کپی, رونوشت, copy, clone
# running and deploying
استقرار, دیپلوی, مستقر, deploy, deployment, release, publish
برنامه, اپلیکیشن, اپ, نرم افزار, app, application
وبسایت, وب سایت, سایت, website, site
سرور, خادم, server
سرور مجازی, ماشین مجازی, vps, vm, virtual machine, virtual server
سرویس, خدمت, service
میزبانی, هاست, هاستینگ, host, hosting
نصب, راه اندازی, install, setup, set up
شروع سریع, شروع به کار, quick start, quickstart, getting started
آموزش, راهنما, tutorial, guide
روشن, فعال, فعال سازی, فعال کردن, enable, activate, turn on, on
خاموش, غیرفعال, غیر فعال, disable, deactivate, turn off, off
اجرا, ران, run, execute
راه اندازی مجدد, ری استارت, ریستارت, restart, reboot
توقف, متوقف, استاپ, stop
شروع, آغاز, استارت, start
بیلد, ساخت, build
کامپایل, compile
نسخه, ورژن, ویرایش, version, release
بروزرسانی, به روزرسانی, به روز رسانی, آپدیت, ارتقا, update, upgrade
بازگشت, رول بک, rollback, revert
تصویر, ایمیج, image
عکس, تصویر, image, picture, photo
کانتینر, container
خط فرمان, ترمینال, کامند لاین, command line, cli, terminal, shell, console
دستور, فرمان, کامند, command
کنسول, پنل, داشبورد, پیشخوان, console, panel, dashboard
پیکربندی, تنظیمات, تنظیم, کانفیگ, config, configuration, configure, settings, setting
سفارشی, شخصی سازی, شخصی, دلخواه, custom, customize
متغیر محیطی, متغیرهای محیطی, env, environment variable, environment variables
متغیر, variable
محیط, environment
پیش فرض, default
پکیج, بسته, کتابخانه, package, library
وابستگی, نیازمندی, dependency, dependencies, requirement
افزونه, پلاگین, اکستنشن, plugin, extension, addon
ماژول, module
زمان بندی, زمانبندی, کار زمان بندی شده, کران جاب, cron, cron job, schedule, scheduled, scheduler
خودکار, اتوماتیک, automatic, automatically, auto
اتوماسیون, خودکارسازی, automation, workflow
پس زمینه, بکگراند, background
وظیفه, تسک, task, job
کارگر, ورکر, worker
مقیاس, مقیاس پذیری, اسکیل, scale, scaling
نمونه, اینستنس, instance, replica
مثال, نمونه, example, sample
حافظه, رم, memory, ram
پردازنده, سی پی یو, cpu, processor
سخت افزار, hardware
منابع, resources
محدودیت, حد, سقف, limit, limitation, restriction, quota
افزایش, زیاد, بیشتر, بالا بردن, increase, raise, grow
کاهش, کم, کمتر, پایین آوردن, decrease, reduce, shrink
قطعی, قطع, از دسترس خارج, downtime, outage, down
بدون قطعی, بدون توقف, zero downtime, rolling
سلامت, health, healthy
بررسی سلامت, health check, healthcheck, liveness, readiness
یکپارچه سازی مداوم, یکپارچگی مداوم, ci, ci cd, continuous integration
شاخه, برنچ, branch
پایپ لاین, خط لوله, pipeline
تولید, پروداکشن, production, prod
توسعه, دولوپمنت, development, dev
تست, آزمایش, آزمون, test, testing
رویداد, ایونت, اتفاق, event
هوک, قلاب, hook
مهلت, تایم اوت, تایم‌اوت, timeout
بارگیری, دانلود, download
بارگذاری, آپلود, upload
فشرده, فشرده سازی, زیپ, compress, compression, zip, gzip
# network and names
دامنه, دومین, domain
زیردامنه, زیر دامنه, ساب دامین, subdomain
نشانی, آدرس, address
لینک, پیوند, url, link
آی پی, ip, ip address
ثابت, استاتیک, static, fixed
ایستا, استاتیک, static
پویا, داینامیک, dynamic
آدرس ثابت, آی پی ثابت, static ip, fixed ip
شبکه, نتورک, network
شبکه خصوصی, شبکه داخلی, private network, internal network
خصوصی, پرایوت, private
عمومی, پابلیک, public
اینترنت, internet
درگاه, پورت, port
درگاه پرداخت, درگاه بانکی, payment gateway
پراکسی معکوس, ریورس پراکسی, reverse proxy
پراکسی, پروکسی, واسط, proxy
متعادل کننده بار, توزیع بار, لود بالانسر, load balancer, load balancing
دیوار آتش, دیواره آتش, فایروال, firewall
تحریم, تحریم شکن, sanction, sanctions, blocked, geo block
فیلتر, مسدود, بلاک, بسته, block, blocked, filter
ترافیک, پهنای باند, bandwidth, traffic
گواهی, گواهینامه, سرتیفیکیت, certificate, ssl, tls
گواهی ssl, ssl, tls, https, certificate
تغییر مسیر, هدایت, ریدایرکت, redirect
کارساز نام, نیم سرور, name server, nameserver, dns
اتصال, وصل, متصل, وصل شدن, کانکت, ارتباط, connect, connection, attach
قطع اتصال, disconnect
درخواست, ریکوئست, request
پاسخ, جواب, ریسپانس, response, reply, answer
سرآیند, هدر, header
نقطه پایانی, اندپوینت, endpoint
وب سوکت, websocket
رابط برنامه نویسی, واسط برنامه نویسی, api
رابط کاربری, واسط کاربری, ui, interface, gui
رابط گرافیکی, ابزار گرافیکی, gui
شبکه توزیع محتوا, cdn
آینه, میرور, mirror
مکان, موقعیت, لوکیشن, محل, location, region
ایران, iran
آلمان, germany
مرورگر, browser
بازدیدکننده, بازدید, visitor, client, visit
خزنده, ربات جستجو, crawler, robots, seo
ربات, بات, bot
# people, access, safety
کاربر, یوزر, user
حساب, حساب کاربری, اکانت, account
رمز, رمز عبور, گذرواژه, پسورد, کلمه عبور, password, passphrase
نام کاربری, یوزرنیم, username
ورود, لاگین, وارد شدن, login, sign in, log in
خروج, لاگ اوت, logout, sign out
ثبت نام, عضویت, register, sign up, signup
احراز هویت, اعتبارسنجی, تایید هویت, authentication, auth, authenticate
دو مرحله ای, ۲ مرحله ای, دو عاملی, two factor, 2fa, mfa, two step
مجوز, دسترسی, اجازه, پرمیشن, permission, access, authorization, role
نقش, رول, role
تیم, گروه, team, group
عضو, اعضا, همکار, هم تیمی, member, teammate, collaborator, colleague
دعوت, invite, invitation
مدیر, ادمین, admin, administrator
توکن, token
کلید api, کلید دسترسی, api key, access key
کلید ssh, کلید عمومی, ssh key, public key
راز, سکرت, محرمانه, secret
امنیت, ایمنی, security, secure
رمزنگاری, رمزگذاری, encrypt, encryption
هک, حمله, attack, hack
فقط خواندنی, read only, readonly
خواندن, read
نوشتن, write
ریست, بازنشانی, reset
فراموش, forgot, forget
# trouble
خطا, ارور, مشکل, ایراد, error, failure, problem, issue
رفع, حل, درست, فیکس, برطرف, fix, solve, resolve, troubleshoot
عیب یابی, رفع اشکال, دیباگ, debug, troubleshooting
اشکال, باگ, bug
هشدار, اخطار, warning, alert
شکست, ناموفق, fail, failed, failure
کرش, از کار افتادن, crash
کند, آهسته, slow
سریع, سرعت, fast, speed, performance
عملکرد, کارایی, پرفورمنس, performance
گزارش, لاگ, log, logs, report
پایش, مانیتورینگ, نظارت, monitoring, monitor, metrics
نظارت, مشاهده پذیری, observability, observation
مصرف, استفاده, usage, consumption
یافت نشد, پیدا نشد, not found, 404
متقاطع, بین مبدا, cors, cross origin
# mail
ایمیل, رایانامه, پست الکترونیک, email, mail
سرور ایمیل, میل سرور, email server, mail server, smtp
فرستادن, ارسال, send, sending, deliver
دریافت, گرفتن, receive, get, fetch
اسپم, هرزنامه, spam
صندوق, اینباکس, inbox, mailbox
پیوست, ضمیمه, attachment
خبرنامه, newsletter
اعلان, نوتیفیکیشن, اطلاع رسانی, notification, notify
پیامک, sms
# money
هزینه, قیمت, مبلغ, تعرفه, cost, price, pricing, billing, fee
برآورد, تخمین, پیش بینی, estimate, estimation
پرداخت, payment, pay
صورتحساب, صورت حساب, فاکتور, invoice, bill
اعتبار, موجودی, شارژ, credit, balance
پلن, طرح, بسته, plan, tier, package
رایگان, مجانی, free
خرید, خریدن, buy, purchase
اشتراک, سابسکریپشن, subscription
# writing software
کد, کدنویسی, code
برنامه نویس, توسعه دهنده, developer, programmer
فریم ورک, چارچوب, framework
زبان, language
تابع, فانکشن, function, func, method
متد, method
کلاس, class
شیء, شی, آبجکت, object
آرایه, array, list
رشته, string, str
عدد, number, integer
نوع, تایپ, type
شرط, condition, conditional
حلقه, loop
ورودی, input, argument, parameter
آرگومان, پارامتر, argument, parameter
مقدار بازگشتی, return value
استثنا, exception
همزمان, موازی, concurrent, parallel, concurrency
ناهمزمان, غیرهمزمان, async, asynchronous
قالب, تمپلیت, پوسته, template, theme
استایل, سبک, style, css
ظاهر, theme, appearance
صفحه, page
دکمه, button
فرم, form
منو, menu, navigation
هوش مصنوعی, ai, artificial intelligence
مدل زبانی, llm, language model
گفتگو, گفتگوی متنی, چت, chat, conversation
چت بات, ربات گفتگو, chatbot
تاریخچه, سابقه, قبلی, history, previous, past
پیام, مسیج, message
یاد, به خاطر سپردن, remember, memory
بردار, بردارسازی, embedding, embeddings, vector
ابزار, tool
پرامپت, prompt
تولید متن, text generation, generate text
جریان, استریم, stream, streaming
ترجمه, مترجم, translate, translation, translator
# English only: abbreviations, and words that readers exchange
js, javascript
ts, typescript
py, python
k8s, kubernetes
postgres, postgresql
mongo, mongodb
pg, postgresql
mssql, sql server, sqlserver
node, nodejs
golang, go
dotnet, net
csharp, c#
cpp, c++
regex, regexp, regular expression
docs, documentation
auth, authentication, authorization
authn, authentication
authz, authorization
config, configuration, settings, options
param, parameter, argument
arg, argument
args, arguments
params, parameters
var, variable
dir, directory, folder
repo, repository
func, function
impl, implementation, implement
init, initialize, initialization
async, asynchronous
sync, synchronous
dep, dependency
deps, dependencies
pkg, package
lib, library
msg, message
pwd, password
creds, credentials
cert, certificate
img, image
i18n, internationalization, localization, translation, multilingual
l10n, localization
a11y, accessibility
ws, websocket
tls, ssl
di, dependency injection
orm, object relational mapping
ssr, server side rendering
ssg, static site generation, static site generator
isr, incremental static regeneration
spa, single page application
crud, create read update delete
rag, retrieval augmented generation
lb, load balancer
gc, garbage collection
oop, object oriented
concurrency, parallelism, multithreading, threads
remove, delete, uninstall
create, make, generate, new
add, insert, append
change, modify, update, edit, customize
override, overwrite, customize, replace
use, using, usage
start, launch, run, begin
stop, halt, terminate, kill, shutdown
error, exception, failure
crash, panic, abort
fix, solve, resolve, repair, troubleshoot
picture, image, photo, figure
logo, icon, brand
folder, directory
file, document
url, link, address
site, website
web page, page
comment, remark, note
reuse, share, common
several, multiple, many
own, custom, self hosted
hide, invisible, conceal
show, display, render
default, initial
nested, inside, within
borrow, reference
string, text
list, array, vector, sequence
map, dictionary, hash map, hashmap
loop, iterate, iteration
check, verify, validate, validation
test, testing, spec
fast, quick, speed, performance
slow, performance, latency
dark mode, dark theme, color scheme
color, colour
center, centre
behavior, behaviour
license, licence
schedule, cron, periodic
host, hosting, deploy
attach, mount, connect
temporary, temp, presigned, expiring
download, fetch
out of memory, oom, memory limit
killed, oom, terminated
env, environment
environment variable, env var, env
permission, access, role, privilege
login, sign in, authentication
roles, permissions
command not found, not recognized
"""


def alternatives(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Other ways to say the phrase: each a row of folded words. [] when the table has none.

    `words` are one to LONGEST written words; endings and stems are looked through.
    """
    key = _key(words)
    found: dict[tuple[str, ...], None] = {}
    for group in _GROUPS.get(key, ()):
        for other in group:
            if _key(other) != key:
                found[other] = None
    return list(found)


def _key(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(_base(word) for word in words)


def _base(written: str) -> str:
    """The last of a word's whole forms is its lightest."""
    whole = analysis.word(written).whole
    return whole[-1] if whole else analysis.normalize(written)


def _groups() -> dict[tuple[str, ...], list[tuple[tuple[str, ...], ...]]]:
    found: dict[tuple[str, ...], list[tuple[tuple[str, ...], ...]]] = {}
    for line in _TABLE.split("\n"):
        if not line or line.startswith("#"):
            continue
        group = tuple(
            tuple(analysis.normalize(word).replace(persian.ZWNJ, "") for word in phrase.split())
            for phrase in line.split(",")
        )
        for phrase in group:
            found.setdefault(_key(phrase), []).append(group)
    return found


_GROUPS: Final = _groups()
