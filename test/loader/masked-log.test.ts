import type { Logger } from '@svc/plugin-sdk'
import t from 'tap'
import { createMaskedLog } from '../../core/loader/settings/masked-log.ts'

const SECRET = 'hunter2/with sign'

/** Creates a log that records its lines, and the masked log in front of it. */
function createLogs () {
  const lines: { fields: Record<string, unknown>, message: string }[] = []
  const write = (fields: object, message: string) => { lines.push({ fields: { ...fields }, message }) }
  const log: Logger = { debug: write, info: write, warn: write, error: write }
  return { lines, log: createMaskedLog(log, [SECRET]) }
}

t.test('a plugin\'s log masks its secrets', (t) => {
  const { lines, log } = createLogs()
  const fields = { key: SECRET, url: `https://a.example/?k=${encodeURIComponent(SECRET)}`, list: [{ of: SECRET }], count: 3 }
  for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](fields, `asked with ${SECRET}`)
  t.equal(lines.length, 4)
  t.notMatch(JSON.stringify(lines), /hunter2/)
  t.match(lines, lines.map(() => ({ fields: { key: '***', list: [{ of: '***' }], count: 3 }, message: 'asked with ***' })))
  t.end()
})

t.test('a logged error has no secret in its message, stack or cause', (t) => {
  const { lines, log } = createLogs()
  log.warn({ err: new TypeError(`bad ${SECRET}`, { cause: new Error(SECRET) }) }, 'failed')
  const err = lines[0]?.fields.err
  t.ok(err instanceof Error)
  if (err instanceof Error) {
    t.match(err, { name: 'TypeError', message: 'bad ***', cause: { message: '***' } })
    t.notMatch(err.stack, /hunter2/)
  }
  t.end()
})

t.test('a line has a bounded number of values, and texts of bounded length', (t) => {
  const { lines, log } = createLogs()
  let many: unknown[] = []
  for (let depth = 0; depth < 5; depth++) many = Array.from({ length: 100 }, () => many)
  log.info({ many }, 'x'.repeat(1_000_000))
  t.ok(JSON.stringify(lines).length < 50_000)
  t.match(lines[0]?.message, /^x{10000}…$/)
  t.end()
})

t.test('a plugin cannot write the fields of the server', (t) => {
  const { lines, log } = createLogs()
  log.info({ level: 60, time: 0, pid: 1, plugin: 'provider/igdb', reqId: 'x', msg: 'other', id: 7 }, 'mine')
  t.same(lines, [{ fields: { id: 7 }, message: 'mine' }])
  t.end()
})

t.test('a circular object is logged down to the depth limit', (t) => {
  const { lines, log } = createLogs()
  const circle: Record<string, unknown> = { name: SECRET }
  circle.self = circle
  log.info(circle, 'round')
  t.match(lines[0]?.fields, { name: '***' })
  t.notMatch(JSON.stringify(lines), /hunter2/)
  t.end()
})
