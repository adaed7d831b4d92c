import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { RateLimitedError, Type, defineProvider } from '@svc/plugin-sdk'

/** Hangs without end like a loop, but uses no processor time. */
const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

/** Actions by name; the name of the ROM selects one. */
const DEEDS = {
  async answer (argument) {
    return argument
  },
  async crash () {
    process.exit(3)
  },
  async timer () {
    setTimeout(() => { throw new Error('out of the blue') })
    await new Promise(() => {})
  },
  async rejection () {
    Promise.reject(new Error('nobody caught this'))
    await new Promise(() => {})
  },
  async tick () {
    process.nextTick(() => { throw new Error('between two turns') })
    await new Promise(() => {})
  },
  async hang () {
    hang()
  },
  async wait (_argument, { signal }) {
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { reject(signal.reason) })
    })
  },
  async grow () {
    const kept = []
    for (;;) {
      kept.push(Buffer.alloc(64 * 1024 * 1024, 1))
      await new Promise((resolve) => { setTimeout(resolve, 50) })
    }
  },
  async read (path) {
    return readFileSync(path, 'utf8')
  },
  /** Runs code from the test, with the access of any module. */
  async code (text, ctx) {
    // eslint-disable-next-line no-eval
    return await eval(`(async (ctx, require) => { ${text} })`)(ctx, createRequire(import.meta.url))
  },
  async 'grow-at-once' () {
    const kept = []
    for (let count = 0; count < 10; count++) kept.push(Buffer.alloc(64 * 1024 * 1024, 1))
    hang()
  },
  async environment () {
    return JSON.stringify(process.env)
  },
  async limited () {
    throw new RateLimitedError('slower, please', 1_234)
  },
  async json (url, { http }) {
    return JSON.stringify(await http.json(url))
  },
  async request (url, { http }) {
    const answer = await http.request(url)
    return `${answer.status} ${answer.text()}`
  },
  async stream (url, { http }) {
    let bytes = 0
    for await (const chunk of http.stream(url)) bytes += chunk.length
    return String(bytes)
  },
  async cache (value, { cache }) {
    await cache.set('key', { value }, 60_000)
    return (await cache.get('key')).value
  },
  async files (path, { files }) {
    let text = ''
    for await (const chunk of files.stream(path)) text += Buffer.from(chunk).toString()
    return `${await files.exists(path)} ${(await files.list('')).map(({ name }) => name)} ${text}`
  },
  async memo (_argument, { memo }) {
    return await memo('made', async () => crypto.randomUUID())
  },
  async found (key, { found, preferences, config, options }) {
    return JSON.stringify([found.get(key), preferences.regions, config, options])
  }
}

/** The action before the first call, set by a test: `crash-import`, `hang-import`, `crash-setup` or `hang-setup`. */
const MOOD = new URL('mood.txt', import.meta.url)

function be (mood) {
  if (!existsSync(MOOD) || readFileSync(MOOD, 'utf8') !== mood) return
  if (mood.startsWith('crash')) process.exit(mood.endsWith('import') ? 4 : 5)
  hang()
}

be('crash-import')
be('hang-import')

export default defineProvider({
  key: 'troublemaker',
  name: 'Does what the ROM says',
  id: 'string',
  config: Type.Object({ password: Type.String({ default: 'hunter2-hunter2', writeOnly: true }) }),
  limits: ({ password }) => ({ concurrency: password.length }),
  index: {
    async * build ({ report }) {
      for (let batch = 0; batch < 3; batch++) {
        report({ done: batch })
        yield [[`key-${batch}`, { batch }]]
      }
    }
  },

  async setup () {
    be('crash-setup')
    be('hang-setup')
  },
  async identify ({ fs_name: name }, ctx) {
    const [deed, ...words] = name.split(' ')
    return { id: await DEEDS[deed](words.join(' '), ctx) }
  }
})
