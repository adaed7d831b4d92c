import t from 'tap'
import { createFailureLog } from '../../../core/jobs/log-failures.ts'
import { until } from '../../until.ts'

/** Returns a failure as pg-boss emits it. */
const refusal = () => ({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:5432', stack: 'at connect' })

t.test('an unreachable database is logged once per outage, and when it is back', async (t) => {
  const lines: unknown[][] = []
  let isDown = true
  const write = (...line: unknown[]) => { lines.push(line) }
  const log = { error: write, info: write }
  const ask = async () => { if (isDown) throw Object.assign(new Error('refused'), refusal()) }
  const report = createFailureLog({ log, ask, signal: new AbortController().signal, retryMs: 1 })
  const outage = [
    ['the job queue cannot reach the database and tries again: connect ECONNREFUSED 127.0.0.1:5432'],
    ['the job queue reaches the database again']
  ]
  for (let poll = 0; poll < 5; poll++) report(refusal())
  isDown = false
  await until(() => lines.length === 2, 'the second line')
  t.same(lines, outage)
  report(refusal())
  await until(() => lines.length === 4, 'the lines of the second outage')
  t.same(lines.slice(2), outage)
})

t.test('any other failure of the job queue is logged with its stack trace', async (t) => {
  const lines: unknown[][] = []
  const log = { error: (...line: unknown[]) => { lines.push(line) }, info: () => {} }
  createFailureLog({ log, ask: async () => {}, signal: new AbortController().signal })({ message: 'odd', stack: 'at work' })
  t.match(lines, [[{ err: { message: 'odd', stack: 'at work' } }, 'job queue failed']])
})
