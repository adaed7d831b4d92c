import fc from 'fast-check'
import t from 'tap'
import { createDebounce } from '../../../plugins/watcher/debounce.ts'
import { until } from '../../until.ts'
import { slugsOf, startWatcher } from './watcher-support.ts'

const { app, worker, admin, put, rom, roms, waiting, afterChange } = await startWatcher(t)

t.test('the catalogue lists the watcher, and it cannot be run by hand', async (t) => {
  const { watcher } = (await app.inject({ url: '/api/tasks', headers: admin })).json<{ watcher: object[] }>()
  t.match(watcher, [{
    name: 'filesystem_watcher', title: 'Rescan on filesystem change', type: 'watcher', enabled: true, manual_run: false,
    cron_string: '', destructive: false
  }])
  t.equal(watcher.length, 1)
  const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/filesystem_watcher', headers: admin })
  t.equal(answer.statusCode, 404)
})

t.test('a library that appears is scanned completely', async (t) => {
  await until(async () => worker?.watcher.isWatching() === true, 'the worker watches')
  t.equal(app.watcher.isWatching(), false, 'a web worker does not')
  const [scan, ...others] = await afterChange(() => put({ 'roms/snes/A.sfc': 'a', 'roms/nes/A.nes': 'a', 'roms/gb/A.gb': 'a' }))
  t.match(scan?.payload, { type: 'quick', platforms: [], platform_fs_slugs: [] })
  t.same(others, [])
  t.equal((await roms('gb')).length, 1)
})

t.test('a new file triggers a scan of its platform only', async (t) => {
  const found = await afterChange(() => put({ 'roms/snes/B.sfc': 'b' }))
  t.same(found.map(slugsOf), [['snes']])
  t.match(await rom('snes', 'B.sfc'), { missing_from_fs: false })
  t.match(await waiting('finished'), [{}, {}])
})

t.test('a stop cancels the waiting scan, and later changes are scanned', async (t) => {
  await put({ 'roms/nes/E.nes': 'e' })
  await until(async () => (await waiting()).length === 1, 'the scan waits')
  t.equal(await app.scans.stop(), 1)
  const found = await afterChange(() => put({ 'roms/psx/Three.bin': 'three' }))
  t.same(found.map(slugsOf), [['psx']])
})

t.test('changes are at rest after one delay of quiet, and after twelve at the latest', (t) => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 60 }), (gaps) => {
    let now = 0
    const debounce = createDebounce(100, () => now)
    if (debounce.isDue()) return false
    for (const gap of gaps) {
      debounce.change('snes')
      now += gap
      if (debounce.isDue() !== (now >= 1_200)) return false
    }
    now += 100
    return debounce.isDue() && debounce.isBusy('snes') && !debounce.isBusy('nes')
  }))
  let now = 0
  const debounce = createDebounce(100, () => now)
  debounce.change(null)
  t.ok(debounce.isBusy('nes'), 'anything is everywhere')
  now = 1_201
  t.notOk(debounce.isBusy('nes'), 'a copy that rests this long is over')
  debounce.postpone()
  t.notOk(debounce.isDue())
  now += 100
  t.ok(debounce.isDue())
  debounce.finishChanges(false)
  t.notOk(debounce.isDue())
  t.end()
})
