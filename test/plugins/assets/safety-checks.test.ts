import t from 'tap'
import { findLaterCheck, findObjectionIn } from '../../../plugins/assets/clean-up/safety-checks.ts'

const HOUR = 3_600_000

t.test('clean-up waits for its first hour, a known clock and files that rows name', async (t) => {
  const check = (clock: { now?: number, running?: number, since_look?: number | null } = {}, known = 1, unknown = 1) =>
    findObjectionIn({ now: Date.now(), running: HOUR, since_look: 2 * 24 * HOUR, ...clock }, known, unknown)
  t.equal(check(), null)
  t.match(check({ running: HOUR - 1 }), /less than an hour ago/)
  for (const skew of [-1, 1]) {
    t.match(check({ now: Date.now() + skew * (HOUR + 60_000) }), /clocks of this machine and of the database/)
    t.equal(check({ now: Date.now() + skew * (HOUR - 60_000) }), null)
  }
  for (const sinceLook of [null, -1, 2 * 24 * HOUR + 1]) t.match(check({ since_look: sinceLook }), /no cleanup ran for two days/)
  t.match(check({}, 1, 2), /has rows for 1 of 3 files/)
})

t.test('a check follows the first hour unless one ran since then', async (t) => {
  const find = (running: number, sinceLook: number | null) =>
    findLaterCheck({ now: Date.now(), running, since_look: sinceLook })
  t.equal(findLaterCheck(null), HOUR, 'for a worker that the database does not know')
  t.equal(find(HOUR - 5, 1), 5)
  t.equal(find(3 * HOUR, null), 0)
  t.equal(find(3 * HOUR, 2 * HOUR + 1), 0, 'the last one ran in the first hour')
  t.equal(find(3 * HOUR, 2 * HOUR - 1), null)
})
