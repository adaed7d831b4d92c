import {
  CredentialsRefusedError, DeliveryRefusedError, InvalidSettingsError, RateLimitedError, ServiceDownError, Type, defineChannel
} from '@svc/plugin-sdk'

/** A channel that uses every feature of the contract, and sends or returns what it received. */
const ERRORS = {
  credentials: () => new CredentialsRefusedError('the key is not hunter2-hunter2'),
  limited: () => new RateLimitedError('slower', 1_500),
  down: () => new ServiceDownError('gone'),
  settings: () => new InvalidSettingsError('no such room'),
  refused: () => new DeliveryRefusedError('unwanted'),
  bug: () => new TypeError('undefined is not a room'),
  coded: () => Object.assign(new Error('no entry'), { code: 'ENOENT' })
}

let context

export default defineChannel({
  key: 'whole',
  name: 'Whole',
  config: Type.Object({
    url: Type.String({ description: 'Where it is' }),
    token: Type.String({ writeOnly: true, description: 'Key of the account' }),
    is_ready: Type.Boolean({ default: true })
  }),
  settings: Type.Object({
    address: Type.String(),
    room: Type.Integer({ minimum: 1 }),
    password: Type.Optional(Type.String({ writeOnly: true })),
    service: Type.Optional(Type.String()),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
  }),
  limits: { titleLength: 12, bodyLength: 20, perMinute: 7, timeoutMs: 20_000 },

  missing: ({ is_ready: isReady }) => isReady ? undefined : 'WHOLE_IS_READY',
  async setup (ctx) {
    context = ctx
    await ctx.cache.set('set-up', true)
  },
  async close () {
    await context.cache.set('closed', true)
  },
  async deliver (notification, settings, { http, cache, config, log, signal, preferences }) {
    const { kind } = notification
    if (Object.hasOwn(ERRORS, kind)) throw ERRORS[kind]()
    if (kind === 'missing') await http.json(`${settings.address}/missing`)
    if (kind === 'elsewhere') await http.text('http://127.0.0.1:1/')
    if (kind === 'wait') {
      await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason) }) })
    }
    log.warn({ room: settings.room, token: config.token, password: settings.password }, 'delivered')
    const seen = { notification, settings, config, preferences, isSetUp: await cache.get('set-up') }
    await cache.set('delivered', await http.json(`${settings.address}/echo`, { method: 'POST', json: seen }))
  },
  describe: ({ address, room }) => `${new URL(address).hostname}, room ${room}`,
  destination: ({ address, room }) => `${address}#${room}`,
  async confirm (code, { room }, { cache }) {
    if (code === '000000') throw ERRORS.limited()
    await cache.set('confirmed', [code, room])
  },
  async services ({ config: { url }, http }) {
    const [path] = await http.json(`${url}/json`)
    return [{ id: 'harbor', name: `Harbor of ${path}`, fields: [] }, 'no service']
  },
  async parse (text, ctx) {
    if (text.startsWith('bad:')) throw ERRORS.settings()
    if (!text.startsWith('whole:')) return null
    return { address: ctx === undefined ? 'http://known.example' : ctx.config.url, room: Number(text.slice(6)) }
  },
  async check ({ room }, { cache }) {
    if (room === 13) throw ERRORS.settings()
    await cache.set('checked', room)
  },
  secretKeys: ({ fields = {} }) => Object.keys(fields).filter((key) => key.startsWith('secret'))
})
