import type { PlannedResponse } from '@svc/plugin-sdk/testing'

export interface ExpectedRequest {
  method: string
  url: string
  headers?: Record<string, string>
  /** JSON, or text unchanged. */
  body: unknown
}

/** One channel, its service's responses, and the expected requests for the sample notification. */
export interface RequestCase {
  /** A URL of Apprise. */
  address: string
  answers: readonly PlannedResponse[]
  requests: readonly ExpectedRequest[]
}

const LINK = 'https://svc.example/scan'
const TEXT = 'Scan failed\n\nDisk 1/2 is *full* & <read-only>; tell @everyone'
/** The text with an invisible space after the `@`. */
const DEFUSED = TEXT.replace('@', '@\u200b')
const BODY = TEXT.slice('Scan failed\n\n'.length)
const ID = 'svc-7-1767323045000'
const TIME = 1767323045

export const SAMPLE = {
  id: 7,
  level: 'error',
  title: 'Scan failed',
  body: BODY,
  url: LINK,
  created_at: '2026-01-02T03:04:05.000Z'
} as const

const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` })
const json = (value: unknown, status = 200): PlannedResponse => ({ url: '*', status, json: value })

export const CASES: Record<string, RequestCase> = {
  'ntfy.sh': {
    address: 'ntfys://roms_4711',
    answers: [json({ id: 'x' })],
    requests: [{
      method: 'POST',
      url: 'https://ntfy.sh/',
      headers: {},
      body: {
        topic: 'roms_4711', title: 'Scan failed', message: BODY, priority: 4, tags: ['rotating_light'], click: LINK
      }
    }]
  },
  'ntfy of one\'s own, with two topics and a token': {
    address: 'ntfy://tk_secret@ntfy.example:8080/one/two?priority=max&xtags=a,b&delay=30min&email=a@b.example',
    answers: [json({ id: 'x' })],
    requests: ['one', 'two'].map((topic) => ({
      method: 'POST',
      url: 'http://ntfy.example:8080/',
      headers: { authorization: 'Bearer tk_secret' },
      body: {
        topic,
        title: 'Scan failed',
        message: BODY,
        priority: 5,
        tags: ['rotating_light', 'a', 'b'],
        click: LINK,
        delay: '30min',
        email: 'a@b.example'
      }
    }))
  },
  Gotify: {
    address: 'gotify://gotify.example/sub/path/AbCdEf?priority=normal',
    answers: [json({ id: 1 })],
    requests: [{
      method: 'POST',
      url: 'http://gotify.example/sub/path/message',
      headers: { 'x-gotify-key': 'AbCdEf' },
      body: {
        title: 'Scan failed', message: BODY, priority: 5, extras: { 'client::notification': { click: { url: LINK } } }
      }
    }]
  },
  Discord: {
    address: 'discord://Svc@123456/to-ken_1?thread=99&tts=yes',
    answers: [json({ id: '1' })],
    requests: [{
      method: 'POST',
      url: 'https://discord.com/api/webhooks/123456/to-ken_1?wait=true&thread_id=99',
      body: {
        username: 'Svc',
        tts: true,
        allowed_mentions: { parse: [] },
        embeds: [{
          title: 'Scan failed',
          description: 'Disk 1/2 is \\*full\\* & \\<read\\-only\\>; tell @\u200beveryone',
          color: 0xe74c3c,
          url: LINK,
          timestamp: '2026-01-02T03:04:05.000Z'
        }]
      }
    }]
  },
  'Slack by webhook': {
    address: 'slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7/#games',
    answers: [{ url: '*', text: 'ok' }],
    requests: [{
      method: 'POST',
      url: 'https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7',
      headers: {},
      body: {
        channel: '#games',
        attachments: [{
          fallback: 'Scan failed',
          color: '#e74c3c',
          title: 'Scan failed',
          title_link: LINK,
          text: 'Disk 1/2 is *full* &amp; &lt;read-only&gt;; tell @\u200beveryone',
          ts: TIME,
          mrkdwn_in: []
        }]
      }
    }]
  },
  'Slack by bot': {
    address: 'slack://xoxb-1234-abcd/+C012AB3CD',
    answers: [json({ ok: true })],
    requests: [{
      method: 'POST',
      url: 'https://slack.com/api/chat.postMessage',
      headers: { authorization: 'Bearer xoxb-1234-abcd' },
      body: {
        channel: 'C012AB3CD',
        attachments: [{
          fallback: 'Scan failed',
          color: '#e74c3c',
          title: 'Scan failed',
          title_link: LINK,
          text: 'Disk 1/2 is *full* &amp; &lt;read-only&gt;; tell @\u200beveryone',
          ts: TIME,
          mrkdwn_in: []
        }]
      }
    }]
  },
  Telegram: {
    address: 'tgram://123456:AbC-dEf/-100200:5/family?silent=yes',
    answers: [json({ ok: true, result: {} })],
    requests: [['-100200', 5], ['@family', undefined]].map(([chat, topic]) => ({
      method: 'POST',
      url: 'https://api.telegram.org/bot123456:AbC-dEf/sendMessage',
      body: {
        chat_id: chat,
        ...(topic === undefined ? {} : { message_thread_id: topic }),
        text: `${DEFUSED}\n\n${LINK}`,
        disable_notification: true,
        link_preview_options: { is_disabled: true }
      }
    }))
  },
  Pushover: {
    address: 'pover://uSerKey@aPpToken/phone/tablet?priority=2&interval=60&sound=bugle',
    answers: [json({ status: 1 })],
    requests: [{
      method: 'POST',
      url: 'https://api.pushover.net/1/messages.json',
      body: {
        token: 'aPpToken',
        user: 'uSerKey',
        device: 'phone,tablet',
        title: 'Scan failed',
        message: BODY,
        priority: 2,
        retry: 60,
        expire: 3600,
        sound: 'bugle',
        url: LINK,
        timestamp: TIME
      }
    }]
  },
  Pushbullet: {
    address: 'pbul://o.tok3n/#channel/me@mail.example',
    answers: [json({ iden: 'x' })],
    requests: [['#channel', { channel_tag: 'channel' }] as const, ['me@mail.example', { email: 'me@mail.example' }] as const]
      .map(([target, receiver]) => ({
        method: 'POST',
        url: 'https://api.pushbullet.com/v2/pushes',
        headers: { 'access-token': 'o.tok3n' },
        body: { type: 'link', title: 'Scan failed', body: BODY, url: LINK, guid: `${ID}-${target}`, ...receiver }
      }))
  },
  Mattermost: {
    address: 'mmosts://bot@chat.example:8065/team/a1b2c3?channel=games',
    answers: [{ url: '*', text: 'ok' }],
    requests: [{
      method: 'POST',
      url: 'https://chat.example:8065/team/hooks/a1b2c3',
      body: {
        text: `Scan failed\n\nDisk 1/2 is \\*full\\* & <read\\-only\\>; tell @\u200beveryone\n\n${LINK}`,
        channel: 'games',
        username: 'bot'
      }
    }]
  },
  'Rocket.Chat by webhook': {
    address: 'rocket://aBc/dEf@chat.example/#games',
    answers: [json({ success: true })],
    requests: [{
      method: 'POST',
      url: 'http://chat.example/hooks/aBc/dEf',
      body: {
        text: `Scan failed\n\nDisk 1/2 is *full* & <\u200bread-only>; tell @\u200beveryone\n\n${LINK}`, channel: '#games'
      }
    }]
  },
  'Rocket.Chat by password': {
    address: 'rockets://ada:secret@chat.example/ROOM1',
    answers: [
      { url: '*/api/v1/login', json: { status: 'success', data: { userId: 'u1', authToken: 't1' } } }, json({ success: true })
    ],
    requests: [
      { method: 'POST', url: 'https://chat.example/api/v1/login', body: { user: 'ada', password: 'secret' } },
      {
        method: 'POST',
        url: 'https://chat.example/api/v1/chat.postMessage',
        headers: { 'x-user-id': 'u1', 'x-auth-token': 't1' },
        body: {
          roomId: 'ROOM1',
          text: `Scan failed\n\nDisk 1/2 is *full* & <\u200bread-only>; tell @\u200beveryone\n\n${LINK}`
        }
      },
      {
        method: 'POST',
        url: 'https://chat.example/api/v1/logout',
        headers: { 'x-user-id': 'u1', 'x-auth-token': 't1' },
        body: ''
      }
    ]
  },
  'Slack by bot, to a person': {
    address: 'slack://bot@xoxb-1234-abcd/ada@mail.example',
    answers: [{ method: 'GET', url: '*/users.lookupByEmail*', json: { ok: true, user: { id: 'U1' } } }, json({ ok: true })],
    requests: [
      {
        method: 'GET',
        url: 'https://slack.com/api/users.lookupByEmail?email=ada%40mail.example',
        headers: { authorization: 'Bearer xoxb-1234-abcd' },
        body: ''
      },
      {
        method: 'POST',
        url: 'https://slack.com/api/chat.postMessage',
        headers: { authorization: 'Bearer xoxb-1234-abcd' },
        body: {
          channel: 'U1',
          username: 'bot',
          attachments: [{
            fallback: 'Scan failed',
            color: '#e74c3c',
            title: 'Scan failed',
            title_link: LINK,
            text: 'Disk 1/2 is *full* &amp; &lt;read-only&gt;; tell @\u200beveryone',
            ts: TIME,
            mrkdwn_in: []
          }]
        }
      }
    ]
  },
  'Matrix by token': {
    address: 'matrixs://syt_token@matrix.example/!room:example/#games?msgtype=notice',
    answers: [
      { url: '*/account/whoami', json: { user_id: '@ada:account.example' } },
      { url: '*/join/!*', json: { room_id: '!room:example' } }, { url: '*/join/*', json: { room_id: '!found:example' } },
      json({ event_id: '$1' })
    ],
    requests: [
      {
        method: 'POST',
        url: 'https://matrix.example/_matrix/client/v3/join/!room%3Aexample',
        headers: { authorization: 'Bearer syt_token' },
        body: {}
      },
      {
        method: 'GET',
        url: 'https://matrix.example/_matrix/client/v3/account/whoami',
        headers: { authorization: 'Bearer syt_token' },
        body: ''
      },
      {
        method: 'POST',
        url: 'https://matrix.example/_matrix/client/v3/join/%23games%3Aaccount.example',
        headers: { authorization: 'Bearer syt_token' },
        body: {}
      },
      ...['!room%3Aexample', '!found%3Aexample'].map((room) => ({
        method: 'PUT',
        url: `https://matrix.example/_matrix/client/v3/rooms/${room}/send/m.room.message/${ID}`,
        headers: { authorization: 'Bearer syt_token' },
        body: { msgtype: 'm.notice', body: `${DEFUSED}\n\n${LINK}`, 'm.mentions': {} }
      }))
    ]
  },
  'Matrix by password': {
    address: 'matrix://ada:secret@matrix.example:8008/!room:example',
    answers: [
      { url: '*/login', json: { access_token: 'fresh', user_id: '@ada:account.example' } },
      { url: '*/join/*', json: { room_id: '!room:example' } }, json({ event_id: '$1' })
    ],
    requests: [
      {
        method: 'POST',
        url: 'http://matrix.example:8008/_matrix/client/v3/login',
        body: {
          type: 'm.login.password',
          identifier: { type: 'm.id.user', user: 'ada' },
          password: 'secret',
          device_id: 'SVCNOTIFY',
          initial_device_display_name: 'Svc'
        }
      },
      {
        method: 'POST',
        url: 'http://matrix.example:8008/_matrix/client/v3/join/!room%3Aexample',
        headers: { authorization: 'Bearer fresh' },
        body: {}
      },
      {
        method: 'PUT',
        url: `http://matrix.example:8008/_matrix/client/v3/rooms/!room%3Aexample/send/m.room.message/${ID}`,
        headers: { authorization: 'Bearer fresh' },
        body: { msgtype: 'm.text', body: `${DEFUSED}\n\n${LINK}`, 'm.mentions': {} }
      }
    ]
  },
  'Matrix by webhook': {
    address: 'matrixs://ho0k@bridge.example?mode=matrix',
    answers: [json({ success: true })],
    requests: [{
      method: 'POST',
      url: 'https://bridge.example/api/v1/matrix/hook/ho0k',
      headers: {},
      body: { displayName: 'Svc', format: 'plain', text: `${DEFUSED}\n\n${LINK}` }
    }]
  },
  'Matrix found by its host': {
    address: 'matrixs://ada:secret@example.org/#room',
    answers: [
      { url: '*/.well-known/*', json: { 'm.homeserver': { base_url: 'https://home.example.net/' } } },
      { url: '*/login', json: { access_token: 'fresh', user_id: '@ada:example.org' } },
      { url: '*/join/*', json: { room_id: '!room:example.org' } }, json({ event_id: '$1' })
    ],
    requests: [
      { method: 'GET', url: 'https://example.org/.well-known/matrix/client', headers: { accept: 'application/json' }, body: '' },
      {
        method: 'POST',
        url: 'https://home.example.net/_matrix/client/v3/login',
        body: {
          type: 'm.login.password',
          identifier: { type: 'm.id.user', user: 'ada' },
          password: 'secret',
          device_id: 'SVCNOTIFY',
          initial_device_display_name: 'Svc'
        }
      },
      {
        method: 'POST',
        url: 'https://home.example.net/_matrix/client/v3/join/%23room%3Aexample.org',
        headers: { authorization: 'Bearer fresh' },
        body: {}
      },
      {
        method: 'PUT',
        url: `https://home.example.net/_matrix/client/v3/rooms/!room%3Aexample.org/send/m.room.message/${ID}`,
        headers: { authorization: 'Bearer fresh' },
        body: { msgtype: 'm.text', body: `${DEFUSED}\n\n${LINK}`, 'm.mentions': {} }
      }
    ]
  },
  'Home Assistant, its own page': {
    address: 'hassio://home.example/long.lived.token',
    answers: [json([])],
    requests: [{
      method: 'POST',
      url: 'http://home.example:8123/api/services/persistent_notification/create',
      headers: { authorization: 'Bearer long.lived.token' },
      body: {
        title: 'Scan failed',
        message: `Disk 1/2 is \\*full\\* & \\<read\\-only\\>; tell @everyone\n\n<${LINK}>`,
        notification_id: ID
      }
    }]
  },
  'Home Assistant, its devices': {
    address: 'hassios://home.example/long.lived.token/mobile_app_phone/script.tell:one,two?prefix=/ha',
    answers: [json([])],
    requests: [
      ['notify/mobile_app_phone', undefined] as const, ['script/tell', ['one', 'two']] as const
    ].map(([path, target]) => ({
      method: 'POST',
      url: `https://home.example/ha/api/services/${path}`,
      headers: { authorization: 'Bearer long.lived.token' },
      body: { title: 'Scan failed', message: `${BODY}\n\n${LINK}`, ...(target === undefined ? {} : { target }) }
    }))
  },
  'Signal API': {
    address: 'signal://ada:secret@signal.example:8080/+15551234/+15555678/@aGroup==/+15559999/@bGroup==',
    answers: [json({ timestamp: '1' }, 201)],
    requests: [['+15555678', '+15559999'], ['group.aGroup=='], ['group.bGroup==']].map((recipients) => ({
      method: 'POST',
      url: 'http://signal.example:8080/v2/send',
      headers: basic('ada:secret'),
      body: { message: `${TEXT}\n\n${LINK}`, number: '+15551234', recipients }
    }))
  },
  Nextcloud: {
    address: 'nclouds://admin:app-pass@cloud.example/ada/#players?url_prefix=/nextcloud&+X-Key=v',
    answers: [
      { method: 'GET', url: '*/groups/players', json: { ocs: { data: { users: ['bob', 'ada'] } } } }, json({ ocs: {} })
    ],
    requests: [
      {
        method: 'GET',
        url: 'https://cloud.example/nextcloud/ocs/v1.php/cloud/groups/players?format=json',
        headers: { 'ocs-apirequest': 'true', accept: 'application/json', ...basic('admin:app-pass'), 'X-Key': 'v' },
        body: ''
      },
      ...['ada', 'bob'].map((user) => ({
        method: 'POST',
        url: `https://cloud.example/nextcloud/ocs/v2.php/apps/notifications/api/v2/admin_notifications/${user}`,
        headers: { 'ocs-apirequest': 'true', accept: 'application/json', ...basic('admin:app-pass'), 'X-Key': 'v' },
        body: new URLSearchParams({ shortMessage: 'Scan failed', longMessage: `${BODY}\n\n${LINK}` }).toString()
      }))
    ]
  },
  'Google Chat': {
    address: 'gchat://AAAAk6l/key-1/to%3Dken%3D/games',
    answers: [json({ name: 'spaces/1' })],
    requests: [{
      method: 'POST',
      url: 'https://chat.googleapis.com/v1/spaces/AAAAk6l/messages?key=key-1&token=to%3Dken%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
      body: {
        text: `Scan failed\n\nDisk 1/2 is *full* & <\u200bread-only>; tell @everyone\n\n${LINK}`,
        thread: { threadKey: 'games' }
      }
    }]
  },
  'Microsoft Teams workflow': {
    address: 'workflows://prod-1.logic.example:443/643e69f8/KODu-ebW',
    answers: [{ url: '*', status: 202 }],
    requests: [{
      method: 'POST',
      url: 'https://prod-1.logic.example/workflows/643e69f8/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=KODu-ebW',
      body: {
        type: 'message',
        attachments: [{
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              { type: 'TextBlock', text: 'Scan failed', weight: 'Bolder', size: 'Large', wrap: true },
              { type: 'TextBlock', text: 'Disk 1/2 is \\*full\\* & <read-only>; tell @everyone', wrap: true }
            ],
            actions: [{ type: 'Action.OpenUrl', title: 'Open', url: LINK }]
          }
        }]
      }
    }]
  },
  Zulip: {
    address: 'zulip://svc@acme/A1B2C3D4E5F6A1B2C3D4E5F6A1B2C3D4/games/ada@acme.example',
    answers: [json({ result: 'success' })],
    requests: [
      { type: 'stream', to: 'games', topic: 'Scan failed', content: `${DEFUSED.slice(13)}\n\n${LINK}` },
      { type: 'private', to: '["ada@acme.example"]', content: `${DEFUSED}\n\n${LINK}` }
    ].map((form) => ({
      method: 'POST',
      url: 'https://acme.zulipchat.com/api/v1/messages',
      headers: basic('svc-bot@acme.zulipchat.com:A1B2C3D4E5F6A1B2C3D4E5F6A1B2C3D4'),
      body: new URLSearchParams(JSON.parse(JSON.stringify(form)) as Record<string, string>).toString()
    }))
  },
  Bark: {
    address: 'barks://api.day.app/d3v1ce?sound=minuet&group=games',
    answers: [json({ code: 200 })],
    requests: [{
      method: 'POST',
      url: 'https://api.day.app/push',
      body: {
        device_key: 'd3v1ce',
        title: 'Scan failed',
        body: BODY,
        url: LINK,
        level: 'timeSensitive',
        sound: 'minuet',
        group: 'games'
      }
    }]
  },
  JSON: {
    address: 'jsons://ada:secret@hook.example:8443/a/b%20c?method=PUT&+X-Key=a%3Db&-q=1&:message=msg&:source=svc',
    answers: [{ url: '*', status: 204 }],
    requests: [{
      method: 'PUT',
      url: 'https://hook.example:8443/a/b%20c?q=1',
      headers: { ...basic('ada:secret'), 'X-Key': 'a=b' },
      body: {
        version: '1.0', title: 'Scan failed', msg: `${BODY}\n\n${LINK}`, type: 'failure', source: 'svc', attachments: []
      }
    }]
  },
  XML: {
    address: 'xml://hook.example',
    answers: [{ url: '*' }],
    requests: [{
      method: 'POST',
      url: 'http://hook.example/',
      headers: { 'content-type': 'application/xml' },
      body: `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <soapenv:Body>
    <Notification>
      <Version>1.1</Version>
      <Subject>Scan failed</Subject>
      <MessageType>failure</MessageType>
      <Message>Disk 1/2 is *full* &amp; &lt;read-only&gt;; tell @everyone

${LINK}</Message>
    </Notification>
  </soapenv:Body>
</soapenv:Envelope>
`
    }]
  },
  Form: {
    address: 'form://hook.example:81/in',
    answers: [{ url: '*' }],
    requests: [{
      method: 'POST',
      url: 'http://hook.example:81/in',
      body: new URLSearchParams({ version: '1.0', title: 'Scan failed', message: `${BODY}\n\n${LINK}`, type: 'failure' }).toString()
    }]
  },
  'Apprise API': {
    address: 'apprises://apprise.example/sub/my-key?tags=family,games',
    answers: [json({ error: null, details: [] })],
    requests: [{
      method: 'POST',
      url: 'https://apprise.example/sub/notify/my-key',
      headers: { accept: 'application/json' },
      body: { title: 'Scan failed', body: `${BODY}\n\n${LINK}`, type: 'failure', format: 'text', tag: ['family', 'games'] }
    }]
  }
}
