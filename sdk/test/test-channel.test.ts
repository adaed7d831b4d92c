import t from 'tap'
import { type Channel, type ChannelDefinition, Type, defineChannel } from '../src/index.ts'
import { type ChannelSuite, testChannel } from '../src/testing/index.ts'
import { runSuite } from './support.ts'

const URL_TEXT = 'https://inbox.example/hook/not-a-real-secret'
const suite: ChannelSuite = { settings: { url: URL_TEXT }, responses: [{ method: 'POST', url: URL_TEXT, status: 204 }] }

const goodChannel = defineChannel({
  key: 'demo',
  name: 'Demo',
  settings: Type.Object({
    url: Type.String({ writeOnly: true, description: 'Where to' }),
    // A default that the suite must fill in.
    greeting: Type.String({ default: 'Hello', description: 'First word' })
  }),
  async deliver ({ title, body }, { url, greeting }, { http }) {
    await http.request(url, { method: 'POST', body: `${greeting}\n${title}\n${body}` })
  },
  describe: ({ url }) => new URL(url).host,
  parse: (text) => text.startsWith('demo://') ? { url: text, greeting: 'Hi' } : null
})
const { definition: good }: Channel = goodChannel

function failuresOf (changes: Partial<ChannelDefinition>, options: Partial<ChannelSuite> = {}) {
  const channel: Channel = defineChannel({ ...good, ...changes })
  return runSuite((runner) => testChannel(runner, channel, { ...suite, ...options }))
}

t.test('a good channel passes', async (t) => {
  const { passed, failed } = await failuresOf({})
  t.strictSame([...failed], [])
  t.ok(passed.length >= 8)
})

t.test('settings that do not fit a form, or would be shown, fail', async (t) => {
  const name = 'the definition can be used by the host'
  const bare = await failuresOf({ settings: Type.Object({ url: Type.String() }) })
  t.match(bare.failed.get(name), /settings\.url needs a description/)
  const shown = await failuresOf({ settings: Type.Object({ token: Type.Optional(Type.String({ description: 'x' })) }) })
  t.match(shown.failed.get(name), /settings\.token looks like a secret/)
  const wrong = await failuresOf({}, { settings: { url: 7 } })
  t.match(wrong.failed.get(name), /\/url must be string/)
})

t.test('a delivery that arrives nowhere fails', async (t) => {
  const { failed } = await failuresOf({ deliver: async () => undefined })
  t.match(failed.get('a delivery reaches the destination'), /nothing arrived/)
})

t.test('a swallowed failure and a bug fail', async (t) => {
  const name = 'a failed delivery throws an error'
  const swallowed = await failuresOf({
    deliver: (notification, settings, ctx) => good.deliver(notification, settings, ctx).catch(() => undefined)
  })
  t.match(swallowed.failed.get(name), /status 500, must throw an error/)
  const bug = await failuresOf({
    deliver: (notification, settings, ctx) => good.deliver(notification, settings, ctx).catch(() => {
      throw new TypeError('x is undefined')
    })
  })
  t.match(bug.failed.get(name), /not TypeError: x is undefined/)
  const telling = await failuresOf({
    deliver: (notification, settings, ctx) => good.deliver(notification, settings, ctx).catch(() => {
      throw new Error(`${URL_TEXT} failed`)
    })
  })
  t.match(telling.failed.get(name), /shows a writeOnly value/)
})

t.test('a channel without ctx.http gives the suite its arrivals and failures', async (t) => {
  let arrived = 0
  const deliver: ChannelDefinition['deliver'] = async (_notification, settings, { signal }) => {
    signal.throwIfAborted()
    if (String(Reflect.get(settings, 'url')).includes('closed')) throw new Error('refused')
    arrived++
  }
  const own = { deliveries: () => arrived, failing: { url: 'https://closed.example' } }
  t.strictSame([...(await failuresOf({ deliver }, own)).failed], [])
  t.match((await failuresOf({ deliver }, { deliveries: own.deliveries })).failed.get('a failed delivery throws an error'),
    /give the suite failing/)
  t.match((await failuresOf({ deliver }, { ...own, failing: suite.settings })).failed.get('a failed delivery throws an error'),
    /a destination that fails must throw/)
})

t.test('a description that is empty or shows a secret fails', async (t) => {
  const name = 'the description shows no secret'
  const describe = (text: string) => failuresOf({ describe: () => text })
  t.match((await describe(URL_TEXT)).failed.get(name), /describe\(\) shows a writeOnly value/)
  t.match((await describe(encodeURIComponent(URL_TEXT))).failed.get(name), /describe\(\) shows a writeOnly value/)
  t.match((await describe(' ')).failed.get(name), /must name the destination/)
})

t.test('secrets in fields of a service must stay hidden', async (t) => {
  const fields = { host: 'inbox.example', key: 'not-a-real-secret' }
  const settings = Type.Object({
    url: Type.String({ description: 'Where to' }),
    fields: Type.Record(Type.String(), Type.String(), { description: 'Fields of the service' })
  })
  const tells = (text: string) => failuresOf({ settings, describe: () => text, secretKeys: () => ['key'] },
    { settings: { url: URL_TEXT, fields } })
  t.strictSame([...(await tells('inbox.example')).failed], [])
  t.match((await tells('inbox.example/not-a-real-secret')).failed.get('the description shows no secret'), /shows a/)
})

t.test('a title that breaks the delivery fails', async (t) => {
  const { failed } = await failuresOf({
    async deliver (notification, settings, ctx) {
      if (/[\r\n]/.test(notification.title)) throw new Error('a header must be one line')
      await good.deliver(notification, settings, ctx)
    }
  })
  t.match(failed.get('awkward notifications are delivered'), /a header must be one line/)
})

t.test('a channel that parses every URL fails', async (t) => {
  const { failed } = await failuresOf({ parse: (url) => ({ url }) })
  t.match(failed.get('parse returns null for an unknown URL'), /parse must give null/)
  const late = await failuresOf({ parse: async (url) => ({ url }) })
  t.match(late.failed.get('parse returns null for an unknown URL'), /parse must give null/)
})
