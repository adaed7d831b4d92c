import t from 'tap'
import { createFormat } from '../../../plugins/console/web/i18n/format.ts'

const { ago, day, duration } = createFormat('en')
const NOW = Date.UTC(2026, 10, 29, 12)
const agoOf = (seconds: number) => ago(new Date(NOW - seconds * 1_000), NOW)

t.test('a release date is the same day in each time zone', async (t) => {
  const former = process.env.TZ
  t.teardown(() => {
    if (former === undefined) delete process.env.TZ
    else process.env.TZ = former
  })
  for (const zone of ['Pacific/Honolulu', 'UTC', 'Pacific/Auckland']) {
    process.env.TZ = zone
    t.equal(createFormat('en').day(Date.UTC(1999, 0, 1)), 'Jan 1, 1999', zone)
  }
  t.equal(day(Date.UTC(2024, 1, 29)), 'Feb 29, 2024')
})

t.test('a duration never has sixty minutes', async (t) => {
  t.equal(duration(0), '0 min')
  t.equal(duration(3_569), '59 min')
  t.equal(duration(3_599), '1 h')
  t.equal(duration(7_199), '2 h')
  t.equal(duration(5_400), '1 h 30 min')
})

t.test('a distance from now has the unit that it is rounded to', async (t) => {
  t.equal(agoOf(59.6), '1 minute ago')
  t.equal(agoOf(3_599), '1 hour ago')
  t.equal(agoOf(1_800), '30 minutes ago')
  t.equal(agoOf(86_399), 'yesterday')
  t.equal(agoOf(43_200), '12 hours ago')
  t.equal(agoOf(-3_599), 'in 1 hour')
  t.equal(agoOf(0), 'now')
})
