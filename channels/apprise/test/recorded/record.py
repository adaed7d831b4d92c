"""Records the requests that the Apprise library makes for each URL of urls.txt, and writes them to requests.json.

    PYTHONPATH=<folder with the library> python3 record.py     # Debian: apt-get install apprise, and no PYTHONPATH

Nothing leaves this machine: the transport below `requests` is replaced, so that services with an address of their own
are recorded too. Answers are such that every service goes on to its message.
"""
import json
import logging
import os
import re
import sys
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import apprise
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
TITLE = 'Scan completed'
BODY = 'Nine new games'

# One response for all services: each one reads the keys it knows.
TAKEN = {
    'ok': True, 'success': True, 'result': 'success', 'code': 200, 'id': 'x', 'iden': 'x', 'name': 'x', 'timestamp': '1',
    'access_token': 'fresh', 'user_id': '@ada:account.example', 'home_server': 'account.example',
    'room_id': '!found:account.example', 'joined_rooms': ['!joined:account.example'], 'event_id': '$1',
    'user': {'id': 'U0FOUND'}, 'channel': 'C0FOUND',
    'ocs': {'data': {'users': ['bob', 'eve']}},
}
ANSWERS = [
    (r'hooks\.slack\.com|/hooks/\w+$', 'ok'),
    (r'/api/v1/login$', {'status': 'success', 'data': {'userId': 'u1', 'authToken': 't1'}}),
    (r'/api/v1/logout$', {'status': 'success'}),
    (r'/\.well-known/matrix/client$', {'m.homeserver': {'base_url': 'https://home.account.example'}}),
    (r'/_matrix/identity/v2$', {}),
    (r'pushover\.net', {'status': 1}),
    (r'/getUpdates$', {'ok': True, 'result': [{'message': {'from': {'id': 42, 'is_bot': False, 'first_name': 'Ada'},
                                                          'chat': {'id': 42, 'type': 'private'}}, 'update_id': 1}]}),
]
# Headers with the login and the type of a request; all others are the library's own.
HEADERS = ('authorization', 'x-', 'ocs-apirequest')
# Values that differ in every run.
RANDOM = [(r'(/send/m\.room\.message/)[^/?]+', r'\1*')]
RANDOM_KEYS = ('ts', 'notification_id')
OWN = re.compile('apprise', re.IGNORECASE)


def answer(request):
    content = next((body for pattern, body in ANSWERS if re.search(pattern, request.url)), TAKEN)
    response = requests.Response()
    response.status_code = 200
    response.request = request
    response.url = request.url
    response._content = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    return response


def without_own(value):
    """Removes the constant parts of every message: the library's name and pictures."""
    if isinstance(value, list):
        return [without_own(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {key: without_own(entry) for key, entry in value.items()
            if entry is not None and key not in RANDOM_KEYS and not (isinstance(entry, str) and OWN.search(entry))}


def read_body(text):
    """Returns JSON unchanged, or the fields of a form or an XML document as pairs."""
    if text.startswith('<?xml'):
        fields = list(ElementTree.fromstring(text.encode())[0][0])
        return {'fields': [[field.tag.split('}')[-1], field.text or ''] for field in fields]}
    try:
        return {'json': without_own(json.loads(text))}
    except ValueError:
        return {'fields': [list(pair) for pair in parse_qsl(text, keep_blank_values=True)]}


def describe(request):
    body = request.body or ''
    text = body.decode('utf-8', 'replace') if isinstance(body, bytes) else body
    url = request.url
    for pattern, replacement in RANDOM:
        url = re.sub(pattern, replacement, url)
    headers = {name.lower(): value.decode() if isinstance(value, bytes) else value
               for name, value in request.headers.items() if name.lower().startswith(HEADERS)}
    headers = {name: value for name, value in headers.items() if not OWN.search(name + value)}
    return {'method': request.method, 'url': url, 'headers': headers, **read_body(text)}


def record(url):
    """Returns the requests for one URL, or None when the library rejects it."""
    made = []

    def send(_adapter, request, **_options):
        made.append(describe(request))
        return answer(request)

    requests.adapters.HTTPAdapter.send = send
    service = apprise.Apprise.instantiate(url)
    if service is None:
        return None
    service.request_rate_per_sec = 0
    service.notify(title=TITLE, body=BODY, notify_type='info')
    # Some services end their session when their object is released.
    del service
    return made


def main():
    logging.disable(logging.CRITICAL)
    with open(os.path.join(HERE, 'urls.txt'), encoding='utf-8') as lines:
        urls = [line.rstrip('\n') for line in lines if line.strip() and not line.startswith('# ')]
    table = [{'url': url, 'requests': record(url)} for url in urls]
    with open(os.path.join(HERE, 'requests.json'), 'w', encoding='utf-8') as out:
        rows = ',\n'.join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in table)
        out.write('{"version": %s, "rows": [\n%s\n]}\n' % (json.dumps(apprise.__version__), rows))
    print(f'{len(table)} URLs, {sum(row["requests"] is None for row in table)} not taken', file=sys.stderr)


main()
