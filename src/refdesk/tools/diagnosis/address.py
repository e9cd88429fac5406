"""A line of a log in, the part of it that does not address its reader out. Pure.

Programs write about themselves; a line that tells an assistant what to do was put there by
somebody else. Such words are cut away, so that they are never shown as what went wrong.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_READER: Final = (
    r"(?:ai|a\.i\.|assistants?|agents?|llms?|chat ?gpt|gpt(?:-\d)?|claude|gemini|copilot|"
    r"language model|"
    r"chat ?bot|ai model|دستیار|هوش مصنوعی|مدل زبانی|ایجنت|عامل هوشمند|چت ?بات)"
)
_PAST: Final = (
    r"(?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|"
    r"system|your|all|any|these|the)"
)
_ORDERS: Final = (
    r"(?:instructions?|prompts?|directions?|directives?|rules?|guidelines?|"
    r"guardrails?|context|orders?|commands?|messages?)"
)

_PATTERNS: Final = (
    rf"(?:ignore|disregard|forget|override|bypass|discard|neglect|"
    rf"drop)\b.{{0,30}}\b{_PAST}\b.{{0,40}}\b{_ORDERS}",
    r"\b(?:ignore|disregard|forget)\b.{0,20}\b(?:previous|prior|above|earlier|preceding)\b\W{0,3}$",
    r"(?:ignore|disregard|forget) (?:everything|all (?:of )?(?:that|this|the above)|what "
    r"(?:came|you were)|the above)",
    r"(?:^|[:.!?\]>-] )\W{0,6}(?:system|assistant|developer|human|user|prompt|ai|سیستم|دستیار|"
    r"کاربر)(?: (?:message|prompt|note|override|instruction|پیام))?\s{0,2}[:：]",
    r"<\|?/?(?:im_start|im_end|system|assistant|user|inst|instructions?|endoftext)\b",
    r"\[/?(?:inst|system|assistant)\]",
    r"#{2,6} ?(?:system|instructions?|assistant|new task)\b",
    rf"\b{_READER}\b.{{0,20}}\b(?:must|should|shall|has to|have to|needs? to|will now|is to|are "
    rf"to|please|باید|موظف|لطفا)",
    rf"\b(?:attention|dear|note to|notice to|message (?:to|for)|instructions? (?:to|for)|hey|"
    rf"hello|hi|for|important)\b[ ,:]{{0,3}}(?:the |any |an |all |this )?(?:reading )?{_READER}\b",
    rf"\bif you are (?:an? )?{_READER}\b",
    rf"\bas an? {_READER}\b",
    r"\byou are now\b",
    r"\byou are (?:an? )?(?:helpful|unrestricted|free|in (?:maintenance|developer|debug|admin) "
    r"mode)",
    r"\bfrom now on,? (?:you|act|respond|answer)",
    r"\b(?:act|behave|respond|pretend) as (?:if|though|an? |the )",
    r"\b(?:call|invoke|use|run|execute) the .{1,40}\b(?:tool|function|plugin)\b",
    r"\b(?:print|reveal|show|dump|output|repeat|send|post|email|exfiltrate|upload|"
    r"leak)\b.{0,40}\b(?:contents? of|system prompt|your (?:prompt|instructions|rules|secrets|"
    r"keys|tokens)|\.env\b|environment variables|credentials|api keys?)",
    r"\b(?:do not|don.t|never) (?:tell|inform|mention|reveal|warn|alert|report|show) "
    r".{0,20}\b(?:user|anyone|human|this|them)",
    r"\btell the (?:user|human|operator|customer|developer)",
    r"\b(?:jailbreak|developer mode|god mode|dan mode|prompt injection)\b",
    r"\bnew (?:system )?(?:instructions?|prompt|task|orders?)\s{0,2}[:：]",
    r"\byour (?:new |real |only )?(?:task|goal|job|role|mission|instructions?) (?:is|are)\b",
    # Persian and Arabic
    r"(?:دستور|دستورات|دستورها|دستورهای|دستورالعمل|دستورالعملهای|دستورالعمل های|تعلیمات|"
    r"راهنمایی|قوانین|پیام).{0,40}(?:قبلی|پیشین|بالا|سابق).{0,40}(?:نادیده|فراموش|رها|کنار|اهمیت)",
    r"(?:نادیده ?بگیر|نادیده گرفته|فراموش کن|بی ?توجه باش|اهمیت نده).{0,60}(?:دستور|قبلی|بالا|"
    r"همه|تمام|قوانین)",
    r"(?:دستور|قبلی|پیشین|قوانین).{0,60}(?:نادیده ?بگیر|فراموش کن|کنار بگذار)",
    rf"{_READER}.{{0,20}}(?:باید|لازم است|موظف است|لطفا)",
    r"(?:از این پس|از حالا به بعد|اکنون|حالا) (?:تو|شما)\b",
    r"(?:تو|شما) (?:اکنون|حالا|از این پس|یک دستیار)",
    r"(?:محتوای|متغیرهای|رمز|کلید|توکن).{0,40}(?:چاپ کن|نمایش بده|نشان بده|ارسال کن|بفرست|بنویس)",
    r"به کاربر (?:بگو|نگو|اطلاع)",
    r"(?:تجاهل|انس).{0,40}(?:التعليمات|الاوامر|الأوامر)",
    r"(?:التعليمات|الاوامر|الأوامر).{0,40}(?:السابقة|اعلاه)",
    # other languages
    r"ignore[rzs]? (?:toutes? )?(?:les |vos |ces )?(?:instructions|consignes)",
    r"oublie[rz]? .{0,30}(?:instructions|consignes|precede)",
    r"(?:ignorier|vergiss|missacht)\w{0,4} .{0,40}(?:anweisung|instruktion|befehl|regel)",
    r"(?:ignora|olvida|omite|descarta|dimentica|esquece|ignore)\w{0,3} .{0,30}(?:instruc|"
    r"istruzion|instruç|ordene|reglas|regole)",
    r"игнорир\w{0,8} .{0,40}(?:инструкц|указан|команд)",
    r"забуд\w{0,6} .{0,40}(?:инструкц|указан|команд|предыдущ)",
    r"(?:talimat|komut|yonerge)\w{0,12} .{0,20}(?:yoksay|gormezden|unut|dikkate alma)",
    r"(?:忽略|无视|無視|忘记|忘記).{0,20}(?:指令|指示|命令|说明|提示|規則|规则)",
    r"(?:指示|命令|指令|プロンプト).{0,20}(?:無視|忘れ)",
    r"(?:지시|명령|프롬프트).{0,20}(?:무시|잊)",
    r"(?:निर्देश|आदेश).{0,30}(?:अनदेखा|नजरअंदाज|भूल)",
)


def strip_address(line: str) -> str:
    """`line` up to where it begins to address its reader; all of it where it does not."""
    plain = _plain(line)
    match = _address().search(plain)
    if match is None:
        return line
    return line[: match.start()].rstrip() if len(plain) == len(line) else ""


def _plain(line: str) -> str:
    """`line` with letters that look alike made one, for the patterns; as long where it can be."""
    if line.isascii():
        return line
    folded = unicodedata.normalize("NFKC", line)
    bare = "".join(c for c in unicodedata.normalize("NFD", folded) if not unicodedata.combining(c))
    bare = unicodedata.normalize("NFC", bare)
    return bare.replace("\u200c", " ").replace("\u064a", "\u06cc").replace("\u0643", "\u06a9")


@lru_cache(maxsize=1)
def _address() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_plain(text)})" for text in _PATTERNS), re.IGNORECASE)
