import t from 'tap'
import { readIndexSchedule } from '../../core/loader/search-index/index-schedule.ts'

const read = (section: object, env: Record<string, string> = {}) =>
  readIndexSchedule('two-words', { plugins: { 'two-words': { ...section } } }, env)

t.test('an index schedule is off by default, and nightly if it has no time', async (t) => {
  t.same(read({}), { enabled: false, cron: '0 4 * * *' })
  t.same(read({ refresh_cron: '15 2 * * 1' }), { enabled: true, cron: '15 2 * * 1' })
  t.same(read({ refresh_cron: '' }), { enabled: false, cron: '0 4 * * *' })
})

t.test('the variables of a schedule take precedence over config.yml', async (t) => {
  t.same(read({}, { ENABLE_SCHEDULED_UPDATE_TWO_WORDS_METADATA: 'true' }), { enabled: true, cron: '0 4 * * *' })
  t.same(read({}, { SCHEDULED_UPDATE_TWO_WORDS_METADATA_CRON: '0 5 * * *' }), { enabled: false, cron: '0 5 * * *' })
  const env = { ENABLE_SCHEDULED_UPDATE_TWO_WORDS_METADATA: '0', SCHEDULED_UPDATE_TWO_WORDS_METADATA_CRON: '0 5 * * *' }
  t.same(read({ refresh_cron: '15 2 * * 1' }, env), { enabled: false, cron: '0 5 * * *' })
})
