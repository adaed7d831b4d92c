import t from 'tap'
import { followScan } from '../../../plugins/scans/cli/follow.ts'
import { type ScanState, createJsonView, createLineView, listProblems, summarise } from '../../../plugins/scans/cli/progress.ts'
import { toScanState } from '../../../plugins/scans/cli.ts'

const state = (status: string, stats: Record<string, number> = {}, error: string | null = null): ScanState =>
  ({ status, error, platform: null, stats, problem_count: 0, problems: [] })

t.test('follow shows each change of a scan once, until it ends', async (t) => {
  const states = [state('queued'), state('queued'), state('started', { scanned_roms: 1 }), state('finished', { scanned_roms: 2 })]
  const shown: string[] = []
  const view = {
    queued: () => {},
    update: ({ status }: ScanState) => { shown.push(status) },
    end: ({ status }: ScanState) => { shown.push(`end ${status}`) }
  }
  const read = async () => states.shift() ?? state('failed')
  t.match(await followScan(read, view, new AbortController().signal), { status: 'finished', stats: { scanned_roms: 2 } })
  t.same(shown, ['queued', 'started', 'end finished'])
})

t.test('follow shows no end after its watcher stops', async (t) => {
  const leave = new AbortController()
  const view = { queued: () => {}, update: () => { leave.abort() }, end: () => { t.fail('the scan goes on') } }
  t.equal(await followScan(async () => state('started'), view, leave.signal), null)
})

t.test('the summary of a scan is one sentence', async (t) => {
  t.equal(summarise(state('finished', { scanned_roms: 1, scanned_platforms: 2, new_roms: 1, failed_lookups: 3 })),
    'Scan finished: 1 ROM on 2 platforms, 1 new, 0 identified, 3 lookups failed.')
  for (const reason of ['The disk is gone', 'The disk is gone.']) {
    t.equal(summarise(state('failed', {}, reason)),
      'Scan failed: The disk is gone; so far 0 ROMs on 0 platforms, 0 new, 0 identified.')
  }
})

t.test('lines come at most every two seconds', async (t) => {
  const lines: string[] = []
  let now = 0
  const view = createLineView((text) => { lines.push(text) }, () => now)
  for (now of [0, 500, 1_999, 2_000]) view.update(state('started', { scanned_roms: now }))
  t.same(lines.map((line) => /(\d+)\/0 ROMs/.exec(line)?.[1]), ['0', '2000'])
  view.update({ ...state('started', { scanned_platforms: 2, total_platforms: 7 }), platform: 'Game Boy' })
  now = 9_000
  view.update({ ...state('started', { scanned_platforms: 2, total_platforms: 7 }), platform: 'Game Boy' })
  t.match(lines.at(-1), 'Game Boy (2/7)')
})

t.test('the JSON view writes one line for each event, with only new values', async (t) => {
  const events: unknown[] = []
  const view = createJsonView((text) => { events.push(JSON.parse(text)) })
  const problem = { platform: 'gb', path: 'roms/gb/a.gb', reason: 'is broken' }
  const at = (scanned: number): ScanState => ({ ...state('started', { scanned_roms: scanned }), platform: 'Game Boy' })
  view.queued('id')
  view.update(state('queued'))
  view.update(at(1))
  view.update({ ...at(1), problems: [problem], problem_count: 1 })
  view.end({ ...at(2), status: 'finished', problems: [problem], problem_count: 1 })
  t.same(events, [
    { event: 'queued', task_id: 'id' },
    { event: 'scan:scanning_platform', display_name: 'Game Boy' },
    { event: 'scan:update_stats', scanned_roms: 1 },
    { event: 'problem', ...problem },
    { event: 'scan:update_stats', scanned_roms: 2 },
    { event: 'scan:done', status: 'finished', scanned_roms: 2, problem_count: 1 }
  ])
  events.length = 0
  view.end({ ...at(2), status: 'failed', error: 'The disk is gone' })
  t.match(events, [{ event: 'scan:done_ko', error: 'The disk is gone', scanned_roms: 2 }])
})

t.test('malformed reports of a task become defaults', async (t) => {
  t.same(toScanState({ status: 'started', error: null, meta: {} }), state('started'))
  t.same(toScanState({ status: 'failed', error: 'x', meta: { scan_stats: 'no', problem_count: '7' } }),
    state('failed', {}, 'x'))
})

t.test('the end of a scan lists 20 problems and counts the rest', async (t) => {
  const problems = Array.from({ length: 25 }, (_, index) => ({ platform: 'snes', path: `roms/snes/${index}`, reason: 'is broken' }))
  const lines = listProblems({ ...state('finished'), problem_count: 30, problems }).split('\n')
  t.equal(lines[0], '  roms/snes/0: is broken')
  t.equal(lines.at(-2), '  and 10 more; see the log of the server')
  t.equal(listProblems(state('finished')), '')
})
