import { InvalidSettingsError } from '@svc/plugin-sdk'
import fc from 'fast-check'
import t from 'tap'
import { checkFields } from '../src/fields.ts'
import { expandTemplate, type Field, type FieldValue, type Form, fieldsOf, isToken, tokensOf } from '../src/form.ts'
import channel from '../src/index.ts'
import { SERVICES } from '../src/services/index.ts'
import { readUrl, splitUrl, writeUrl } from '../src/url.ts'
import { parse, read } from './support.ts'

const { definition } = channel

/** URLs as people write them, with the expected fields. */
const READ: [string, string, Record<string, unknown>][] = [
  ['ntfy://topic', 'ntfy', { schema: 'ntfy', topic: 'topic' }],
  ['ntfys://ntfy.example:8080/a/b/?to=c,d', 'ntfy', { schema: 'ntfys', host: 'ntfy.example', port: 8080, targets: ['a', 'b', 'c', 'd'] }],
  ['NTFYS://ada:p%40ss%2F@ntfy.example/a?priority=4', 'ntfy', { schema: 'ntfys', host: 'ntfy.example', user: 'ada', password: 'p@ss/', targets: ['a'], priority: 'high' }],
  ['ntfys://tk_abc@ntfy.example/a?auth=token&mode=private&image=no', 'ntfy', { schema: 'ntfys', host: 'ntfy.example', token: 'tk_abc', targets: ['a'] }],
  ['https://ntfy.sh/my_topic', 'ntfy', { schema: 'ntfys', topic: 'my_topic' }],
  ['http://ntfy.home.example:81/my_topic', 'ntfy', { schema: 'ntfy', host: 'ntfy.home.example', port: 81, targets: ['my_topic'] }],
  ['gotify://[::1]:8080/tok?priority=8', 'gotify', { schema: 'gotify', host: '[::1]', port: 8080, token: 'tok', priority: '8' }],
  ['https://gotify.example/message?token=tok', 'gotify', { schema: 'gotifys', host: 'gotify.example', token: 'tok' }],
  ['discord://1234/tok-en?avatar=no&footer=yes&url=https%3A%2F%2Fa.example', 'discord', { webhook_id: '1234', webhook_token: 'tok-en', href: 'https://a.example' }],
  ['https://discord.com/api/webhooks/1234/tok-en', 'discord', { webhook_id: '1234', webhook_token: 'tok-en' }],
  ['https://canary.discordapp.com/api/v10/webhooks/1234/tok-en/', 'discord', { webhook_id: '1234', webhook_token: 'tok-en' }],
  ['slack://bot@T1/B1/x1/#general/@ada?footer=no', 'slack', { botname: 'bot', token_a: 'T1', token_b: 'B1', token_c: 'x1', targets: ['#general', '@ada'] }],
  ['slack://xoxb-1-2/', 'slack', { access_token: 'xoxb-1-2' }],
  ['slack://xoxp-0/a/a', 'slack', { access_token: 'xoxp-0', targets: ['a', 'a'] }],
  ['slack://xoxp0/a/a', 'slack', { token_a: 'xoxp0', token_b: 'a', token_c: 'a' }],
  ['https://hooks.slack.com/services/T1/B1/x1', 'slack', { token_a: 'T1', token_b: 'B1', token_c: 'x1' }],
  ['tgram://bot123:a-b_c/42/@chan', 'tgram', { bot_token: 'bot123:a-b_c', targets: ['42', '@chan'] }],
  ['tgram://123:abc/?to=42&thread=7', 'tgram', { bot_token: '123:abc', targets: ['42'], topic: 7 }],
  ['https://api.telegram.org/bot123:abc/sendMessage?chat_id=42', 'tgram', { bot_token: 'bot123:abc', targets: ['42'] }],
  ['pover://user@token/phone/?priority=emergency', 'pover', { user_key: 'user', token: 'token', targets: ['phone'], priority: 'emergency' }],
  ['pbul://tok', 'pbul', { accesstoken: 'tok' }],
  ['mmost://bot@chat.example:8065/a/b/tok?to=town', 'mmost', { schema: 'mmost', botname: 'bot', host: 'chat.example', port: 8065, fullpath: 'a/b', token: 'tok', channels: ['town'] }],
  ['https://mattermost.example/team/hooks/abcdefghijklmnopqrstuvwxyz', 'mmost', { schema: 'mmosts', host: 'mattermost.example', fullpath: 'team', token: 'abcdefghijklmnopqrstuvwxyz' }],
  ['rockets://ab/cd@chat.example:3000/#general', 'rocket', { schema: 'rockets', webhook: 'ab/cd', host: 'chat.example', port: 3000, targets: ['#general'] }],
  [`rocket://ada:${'t'.repeat(43)}@chat.example/ROOM`, 'rocket', { schema: 'rocket', user: 'ada', token: 't'.repeat(43), host: 'chat.example', targets: ['ROOM'] }],
  ['https://chat.example/hooks/ab12/cd34', 'rocket', { schema: 'rockets', webhook: 'ab12/cd34', host: 'chat.example' }],
  ['matrix://ada:pw@m.example/#room:other.example?mode=off', 'matrix', { schema: 'matrix', user: 'ada', password: 'pw', host: 'm.example', targets: ['#room:other.example'], mode: 'off' }],
  ['https://webhooks.t2bot.io/api/v1/matrix/hook/abc1', 'matrix', { schema: 'matrixs', host: 'webhooks.t2bot.io', token: 'abc1', mode: 'matrix' }],
  ['hassios://ha.example/tok/notify.phone?token=tok2', 'hassio', { schema: 'hassios', host: 'ha.example', accesstoken: 'tok2', targets: ['notify.phone'] }],
  ['signal://s.example:8080/+1555/+1556', 'signal', { schema: 'signal', host: 's.example', port: 8080, from_phone: '+1555', targets: ['+1556'] }],
  ['nclouds://a:b@cloud.example/ada?version=20&+X-A=1&+X-B=2', 'ncloud', { schema: 'nclouds', user: 'a', password: 'b', host: 'cloud.example', targets: ['ada'], version: 20, headers: ['X-A=1', 'X-B=2'] }],
  ['gchat://AA/?key=k&token=t%3D', 'gchat', { workspace: 'AA', webhook_key: 'k', webhook_token: 't=' }],
  ['https://chat.googleapis.com/v1/spaces/AA/messages?key=k&token=t%3D', 'gchat', { workspace: 'AA', webhook_key: 'k', webhook_token: 't=' }],
  ['workflows://h.example/id/sig?pa=yes', 'workflow', { host: 'h.example', workflow: 'id', signature: 'sig', pa: true }],
  ['https://prod-1.logic.azure.com:443/workflows/id1/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s-1', 'workflow', { host: 'prod-1.logic.azure.com', workflow: 'id1', signature: 's-1', pa: false }],
  ['https://x.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/id1/triggers/manual/paths/invoke?api-version=1&sig=s', 'workflow', { host: 'x.environment.api.powerplatform.com', workflow: 'id1', signature: 's', pa: true, ver: '1' }],
  [`zulip://bot@acme/${'a'.repeat(32)}/general`, 'zulip', { botname: 'bot', organization: 'acme', token: 'a'.repeat(32), targets: ['general'] }],
  ['bark://ada:pw@bark.example/key?level=critical', 'bark', { schema: 'bark', user: 'ada', password: 'pw', host: 'bark.example', targets: ['key'], level: 'critical' }],
  ['https://api.day.app/key/', 'bark', { schema: 'barks', host: 'api.day.app', targets: ['key'] }],
  ['json://localhost', 'json', { schema: 'json', host: 'localhost' }],
  ['xmls://ada@hook.example/p?:a=b&method=patch', 'xml', { schema: 'xmls', user: 'ada', host: 'hook.example', fullpath: 'p', payload: ['a=b'], method: 'PATCH' }],
  ['forms://hook.example:8443', 'form', { schema: 'forms', host: 'hook.example', port: 8443 }],
  ['apprise://:pw@host.example/key', 'apprise', { schema: 'apprise', password: 'pw', host: 'host.example', token: 'key' }],
  ['http://host.example:8000/notify/key', 'apprise', { schema: 'apprise', host: 'host.example', port: 8000, token: 'key' }]
]

t.test('URLs of Apprise and of the services themselves are parsed', async (t) => {
  for (const [url, service, fields] of READ) t.same(parse(url), { service, fields }, url)
})

t.test('the samples cover every service and every URL of its own', async (t) => {
  const read = READ.map(([url, id]) => `${id} ${/^https?:/.test(url)}`)
  for (const { id, readNative, urlFields } of SERVICES) {
    t.ok(read.includes(`${id} false`), id)
    t.equal(read.includes(`${id} true`), readNative !== undefined, `${id}, its own URL`)
    t.equal(urlFields.length > 0, readNative !== undefined, `${id}, the fields its own URL fills`)
  }
})

t.test('errors about a URL show no secrets', async (t) => {
  const problems: [string, RegExp][] = [
    ['discord://1234/tok en', /white space/],
    ['discord://1234', /Discord has no address of this form; it is one of discord:\/\//],
    ['slack://T1/B1', /Slack does not accept this 'access_token'/],
    ['slack://secret1!/B1/x1', /Slack does not accept this 'token_a'/],
    ['discord://1234/secret1?template=/etc/passwd', /local file for 'template'/],
    ['jsons://hook.example?verify=no', /certificate/],
    ['ntfys://ntfy.example/a?attach=/etc/passwd', /'attach'/],
    ['json://hook.example?method=TRACE', /one of POST, PUT, PATCH, GET, DELETE, HEAD/],
    ['json://hook.example/a%0d%0ab', /'fullpath'/],
    ['json://hook.example/a/%2E%2E/b', /'fullpath'/],
    ['json://hook.example:0/', /'port'/],
    ['matrix://secret1@m.example/!r?mode=other', /'mode'/]
  ]
  for (const [url, message] of problems) {
    t.throws(() => definition.parse?.(url), { message }, url)
    t.throws(() => definition.parse?.(url), InvalidSettingsError)
    try {
      definition.parse?.(url)
    } catch (err) {
      t.notMatch(String(err), 'secret1')
    }
  }
})

t.test('a URL without a matching service returns null', async (t) => {
  for (const url of ['syslog://', 'dbus://', 'windows://', 'fcm://project/key', 'mailto://a:b@c.example', 'https://example.com/',
    'https://discord.com/channels/1', 'javascript:alert(1)', 'discord:', '//host/path']) t.equal(definition.parse?.(url), null, url)
})

t.test('no option is dropped without a warning', async (t) => {
  const options = 'rto=4&cto=4&redirect=yes&retry=3&wait=1&overflow=split&format=markdown&emojis=yes&store=no&tz=UTC&unheard=of'
  const { fields, warnings } = read(`json://hook.example?${options}`)
  t.same(fields, { schema: 'json', host: 'hook.example' })
  t.equal(warnings.length, 11)
  t.match(warnings[5], /^JSON has no option 'overflow' here; the option was skipped$/)
  t.match(read('https://ntfy.sh/topic?actions=a&priority=high').warnings, [/'actions'/])
  t.match(read('discord://1/a?attach=https%3A%2F%2Fa.example%2Fb.png').warnings, [/'attach'/])
})

t.test('an option for the default behaviour causes no warning', async (t) => {
  for (const url of [
    'json://hook.example?verify=no', 'jsons://hook.example?verify=yes&redirect=no&format=text&overflow=truncate',
    'discord://1/a?footer=no&image=N&avatar=disabled', 'signal://s.example/+1555?batch=yes', 'ntfy://ntfy.example/a?mode=private&auth=basic'
  ]) t.same(read(url).warnings, [], url)
})

t.test('all forms of a URL yield the same fields', async (t) => {
  const same: string[][] = [
    ['ntfy://topic', ' ntfy://topic\n'],
    ['ntfys://ntfy.sh/one/two', 'ntfy://one/two?mode=cloud', 'https://ntfy.sh/one/two'],
    ['ntfy://a.example/b?token=abc', 'ntfy://abc@a.example/b?auth=token'],
    ['ntfy://a.example/b?token=tk_abc', 'ntfy://tk_abc@a.example/b'],
    ['ntfy://t?tags=a,b', 'ntfy://t?xtags=a,b', 'ntfy://t?xtags=a&tags=b'],
    ['json://ada:pw@a.example', 'json://a.example?user=ada&pass=pw', 'json://ada@a.example?password=pw'],
    ['slack://A/B/C/#games', 'slack://?token=A/B/C&to=#games', 'https://hooks.slack.com/services/A/B/C?to=%23games'],
    ['slack://bot@xoxb-1-2/#games', 'slack://bot@?token=xoxb-1-2&to=games'.replace('games', '%23games')],
    ['gchat://AA/k/t', 'gchat://?workspace=AA&key=k&token=t'],
    ['discord://1/a?tts=yes&thread=9', 'https://discord.com/api/webhooks/1/a?tts=y&thread=9', 'discord://1/a?tts=enabled&thread=9'],
    [`matrixs://${'7'.repeat(64)}@webhooks.t2bot.io?mode=matrix`, `matrixs://${'7'.repeat(64)}`, `matrix://${'7'.repeat(64)}?mode=t2bot`,
      `https://webhooks.t2bot.io/api/v1/matrix/hook/${'7'.repeat(64)}`],
    ['matrix://syt@m.example/#room', 'matrix://m.example/#room?token=syt'],
    ['pbul://tok/dev1/dev2', 'pbul://tok/dev1,dev2', 'pbul://tok?to=dev1,dev2'],
    ['gotify://a.example/t?priority=high', 'gotify://a.example/t?priority=h']
  ]
  for (const [first = '', ...others] of same) for (const other of others) t.same(parse(other), parse(first), other)
})

t.test('a final slash stays, and invalid percent-encoding is literal', async (t) => {
  t.equal(parse('json://hook.example/a/b/').fields.fullpath, 'a/b/')
  t.equal(parse('json://hook.example/100%/a%2').fields.fullpath, '100%/a%2')
  t.equal(parse('json://hook.example/').fields.fullpath, undefined)
})

t.test('brackets in a template mark optional parts', async (t) => {
  t.same(expandTemplate('[{a}[:{b}]@]{c}'), ['{c}', '{a}@{c}', '{a}:{b}@{c}'])
  t.throws(() => expandTemplate('[{a}'), /no \]/)
})

/** Sample values for patterns that no generator can invert. */
const SAMPLES: Record<string, string[]> = {
  host: ['example.com', 'localhost', '192.168.1.5', '[::1]', '[fe80::1:2]', 'münchen.example', 'a_b.example'],
  path: ['a', 'a/b', 'ü/%41 b', 'a.b/..c'],
  fullpath: ['a', 'a/b', 'ü/%41 b', 'a.b/..c'],
  headers: ['X-A=1', 'X-B=a=b & c', 'X-C='],
  payload: ['a=1', 'b=ü=&'],
  params: ['q=1', 'ä b=c+d'],
  user: ['ada', 'a@b', 'ü/?#%&']
}

/** Any character. The `binary` of fast-check would first build a table of all million characters. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((value) =>
  !/[\p{Cc}\p{Cs}]/u.test(value) && value.trim() === value && value !== '')

function textFor (key: string, { pattern }: Field): fc.Arbitrary<string> {
  const samples = (SAMPLES[key] ?? []).filter((sample) => pattern === undefined || pattern.test(sample))
  if (samples.length > 0) return fc.constantFrom(...samples)
  if (pattern === undefined) return text
  const simple = new RegExp(pattern.source, pattern.flags.replace('i', ''))
  return fc.stringMatching(simple).filter((value) => pattern.test(value) && value.length < 200 && value.trim() === value && !/[\p{Cc}\p{Cs}]/u.test(value))
}

function valueFor (key: string, field: Field): fc.Arbitrary<FieldValue> {
  if (field.type === 'bool') return fc.boolean()
  if (field.type === 'int' || field.type === 'float') return fc.integer({ min: field.min ?? 0, max: field.max ?? 99_999 })
  if (field.type === 'choice') return fc.constantFrom(...field.values ?? [])
  return field.type === 'list' ? fc.array(textFor(key, field), { minLength: 1, maxLength: 3 }) : textFor(key, field)
}

/** Generates the parts of one template and any options. */
function fieldsFor (form: Form): fc.Arbitrary<Record<string, FieldValue>> {
  const values = Object.entries(fieldsOf(form)).map(([key, field]) => [key, valueFor(key, field)] as const)
  return fc.oneof(...form.templates.map((template) => {
    const needed = [...tokensOf(template), 'schema']
    const used = values.filter(([key]) => needed.includes(key) || !isToken(form, key))
    return fc.record(Object.fromEntries(used), { requiredKeys: needed.filter((key) => key in fieldsOf(form)) })
  }))
}

for (const service of SERVICES) {
  t.test(`${service.name}: a written URL is parsed to the same fields`, async () => {
    fc.assert(fc.property(fieldsFor(service), (given) => {
      const fields = checkFields(service, given)
      const url = writeUrl(service, fields)
      const raw = splitUrl(url)
      if (raw === null) throw new Error(`${url} cannot be split`)
      const kept = Object.entries(fields).filter(([key, value]) => key === 'schema' || value !== service.fields[key]?.default)
      const { fields: read, warnings } = readUrl(service, raw)
      if (warnings.length > 0) throw new Error(`${url}: ${warnings.join()}`)
      if (JSON.stringify(sorted(read)) !== JSON.stringify(sorted(Object.fromEntries(kept)))) {
        throw new Error(`${url}: ${JSON.stringify(read)} instead of ${JSON.stringify(Object.fromEntries(kept))}`)
      }
    }), { numRuns: 40 })
  })
}

function sorted (fields: Record<string, unknown>) {
  return Object.entries(fields).sort(([a], [b]) => a < b ? -1 : 1)
}

t.test('any text is parsed, returns null, or is an error with a reason', async () => {
  const schemas = SERVICES.flatMap(({ plain, secure }) => [...plain, ...secure])
  fc.assert(fc.property(fc.constantFrom('http', 'https', 'x', ...schemas), fc.string({ unit: character }), (schema, rest) => {
    try {
      definition.parse?.(`${schema}://${rest}`)
    } catch (err) {
      if (!(err instanceof InvalidSettingsError)) throw err
    }
  }), { numRuns: 200 })
})
