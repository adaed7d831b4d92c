import { execFile } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommanderError } from 'commander'
import t from 'tap'
import { followScan } from '../../core/cli/follow.ts'
import { renderTable } from '../../plugins/plugins/cli.ts'
import { findAdded } from '../../plugins/plugins/npm.ts'
import { createProgram } from '../../core/cli/program.ts'
import { commands } from '../../core/composition/commands.ts'
import { type ScanState, createJsonView, createLineView, listProblems, summarise } from '../../core/cli/progress.ts'
import { toScanState } from '../../plugins/scans/cli.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { runSvc, settings } from '../e2e/server.ts'
import { buildPackage } from '../loader/build.ts'

const execute = promisify(execFile)

const state = (status: string, stats: Record<string, number> = {}, error: string | null = null): ScanState =>
  ({ status, error, platform: null, stats, problem_count: 0, problems: [] })

t.test('every command explains itself', async (t) => {
  const program = createProgram('1.2.3', commands)
  const names = program.commands.map((command) => command.name())
  t.same(names, ['start', 'web', 'worker', 'migrate', 'database', 'config', 'scan', 'export', 'plugins', 'user'])
  for (const command of program.commands) t.ok(command.description().length > 5, command.name())
  t.match(program.helpInformation(), '--data-dir <folder>')
})

t.test('an unknown command and a wrong value are wrong usage', async (t) => {
  for (const args of [['fly'], ['scan', '--type', 'x'], ['scan', '--rom', '0'], ['export']]) {
    const program = createProgram('1.2.3', commands)
    for (const command of [program, ...program.commands]) command.configureOutput({ writeErr: () => {} })
    await t.rejects(program.parseAsync(args, { from: 'user' }), CommanderError, args.join(' '))
  }
})

t.test('a scan is followed until it ended, each change shown once', async (t) => {
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

t.test('whoever stops watching gets no end', async (t) => {
  const leave = new AbortController()
  const view = { queued: () => {}, update: () => { leave.abort() }, end: () => { t.fail('the scan goes on') } }
  t.equal(await followScan(async () => state('started'), view, leave.signal), null)
})

t.test('the outcome of a scan is told in a sentence', async (t) => {
  t.equal(summarise(state('finished', { scanned_roms: 1, scanned_platforms: 2, new_roms: 1, failed_lookups: 3 })),
    'Scan finished: 1 ROM on 2 platforms, 1 new, 0 identified, 3 lookups failed.')
  t.equal(summarise(state('failed', {}, 'The disk is gone')),
    'Scan failed: The disk is gone; so far 0 ROMs on 0 platforms, 0 new, 0 identified.')
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

t.test('as JSON a scan is one line for each event, with what is new', async (t) => {
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

t.test('what a task reports is read with care', async (t) => {
  t.same(toScanState({ status: 'started', error: null, meta: {} }), state('started'))
  t.same(toScanState({ status: 'failed', error: 'x', meta: { scan_stats: 'no', problem_count: '7' } }),
    state('failed', {}, 'x'))
})

t.test('tables are as wide as they have to be', async (t) => {
  t.equal(renderTable([['A', 'B'], ['long', 'x'], ['s', '']]), 'A     B\nlong  x\ns')
})

t.test('the package that npm added is found by what changed, then by its name', async (t) => {
  t.equal(findAdded({ a: '1' }, { a: '1', b: 'file:../b' }, '/x/b'), 'b')
  t.equal(findAdded({ a: '1' }, { a: '2' }, 'a@2'), 'a')
  t.equal(findAdded({ '@s/a': '1', b: '1' }, { '@s/a': '1', b: '1' }, '@s/a@^1'), '@s/a')
  t.equal(findAdded({ x: 'file:../my' }, { x: 'file:../my' }, '/home/my'), 'x')
  t.equal(findAdded({}, {}, 'nothing'), undefined)
})

t.test('a plugin is added from a folder, listed and removed', async (t) => {
  const folder = t.testdir({
    plugin: {
      'package.json': JSON.stringify({
        name: 'svc-exporter-note', version: '1.0.0', type: 'module', exports: './index.js',
        svc: { kind: 'exporter', key: 'note', sdk: '^1' }
      }),
      'index.js': `import { defineExporter } from '@svc/plugin-sdk'
        export default defineExporter({ key: 'note', name: 'Note', fileName: 'note.txt', media: {}, async render () { return '' } })`
    }
  })
  const env = settings(join(folder, 'data'))
  const added = await runSvc(t, ['plugins', 'add', join(folder, 'plugin')], env).ended
  t.match(added, { code: 0, output: /^svc-exporter-note 1\.0\.0: active\n$/ })
  t.notOk(existsSync(join(folder, 'data', 'plugins', 'node_modules', 'svc-exporter-note', 'node_modules')))
  const removed = await runSvc(t, ['plugins', 'remove', 'svc-exporter-note'], env).ended
  t.match(removed, { code: 0, output: 'svc-exporter-note was removed.\n' })
  t.match(await runSvc(t, ['plugins', 'remove', 'svc-exporter-note'], env).ended,
    { code: 1, output: "svc: No plugin 'svc-exporter-note' was added. There are none.\n" })
})

t.test('a plugin that was created passes its own tests and is listed, without another edit', async (t) => {
  const folder = t.testdir({})
  const env = settings(join(folder, 'data'))
  for (const kind of ['provider', 'channel', 'exporter']) {
    const own = join(folder, kind)
    t.match(await runSvc(t, ['plugins', 'create', kind, 'tide-table', own], env).ended, { code: 0, output: 'npm test' })
    symlinkSync(join(SERVER_DIR, 'node_modules'), join(own, 'node_modules'), 'junction')
    await execute(process.execPath, ['--conditions=svc:source', '--disable-warning=ExperimentalWarning', 'test/index.test.ts'], { cwd: own })
    buildPackage(own)
    t.match(await runSvc(t, ['plugins', 'add', own], env).ended,
      { code: 0, output: `svc-${kind}-tide-table 0.1.0: active\n` })
    const texts = ['package.json', 'README.md', join('src', 'index.ts')].map((name) => readFileSync(join(own, name), 'utf8'))
    t.notMatch(texts.join('\n'), /minimal/i, 'nothing of the example is left')
  }
  const { output } = await runSvc(t, ['plugins'], env).ended
  for (const kind of ['provider', 'channel', 'exporter']) {
    t.match(output, new RegExp(`${kind} +tide-table +0\\.1\\.0 +svc-${kind}-tide-table +active`))
  }
})

t.test('a plugin is not created under a key that is none or is taken, nor over something', async (t) => {
  const folder = t.testdir({ full: { 'notes.txt': 'mine' } })
  const env = settings(join(folder, 'data'))
  const create = async (...args: string[]) => await runSvc(t, ['plugins', 'create', ...args], env).ended
  t.match(await create('provider', 'Tide'), { code: 2, output: /'Tide' is no key of a plugin\. Use lower-case letters/ })
  t.match(await create('provider', 'igdb', join(folder, 'igdb')), { code: 2, output: /'igdb' is already there, from @svc\/provider-igdb/ })
  t.match(await create('channel', 'tide', join(folder, 'full')), { code: 2, output: /full is not empty/ })
  t.match(await create('theme', 'tide'), { code: 2, output: /Allowed choices are provider, channel, exporter/ })
})

t.test('the flags of the start script are those of the processes it leads to', async (t) => {
  const flags = /FLAGS = (\[.*\])/
  const [, ofScript] = flags.exec(readFileSync(join(SERVER_DIR, 'core', 'svc.js'), 'utf8')) ?? []
  const [, ofSupervisor] = flags.exec(readFileSync(join(SERVER_DIR, 'core', 'supervisor', 'supervisor.ts'), 'utf8')) ?? []
  t.ok(ofScript)
  t.equal(ofScript, ofSupervisor)
})

t.test('the end of a scan names what was left out, and how much more there is', async (t) => {
  const problems = Array.from({ length: 25 }, (_, index) => ({ platform: 'snes', path: `roms/snes/${index}`, reason: 'is broken' }))
  const lines = listProblems({ ...state('finished'), problem_count: 30, problems }).split('\n')
  t.equal(lines[0], '  roms/snes/0: is broken')
  t.equal(lines.at(-2), '  and 10 more; see the log of the server')
  t.equal(listProblems(state('finished')), '')
})
