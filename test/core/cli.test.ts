import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CommanderError } from 'commander'
import t from 'tap'
import { renderTable } from '../../plugins/plugins/cli.ts'
import { findAdded } from '../../plugins/plugins/npm.ts'
import { createProgram } from '../../core/cli/program.ts'
import { features } from '../../plugins/index.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { NODE_LEVEL } from '../../core/loader/process/node-level.ts'
import { WEB_FLAGS } from '../../core/process/node-flags.ts'
import { createUsedDataDir, runSvc, settings } from '../e2e/server.ts'
import { runCommand } from '../run-command.ts'
import { execute } from './cli-support.ts'

t.test('every command has a description', async (t) => {
  const program = await createProgram('1.2.3', features)
  const names = program.commands.map((command) => command.name())
  t.same(names, ['start', 'web', 'worker', 'migrate', 'database', 'config', 'user', 'scan', 'dat', 'export', 'tasks', 'trash', 'plugins',
    'backup', 'restore', 'import', 'store', 'doctor'])
  for (const command of program.commands) t.ok(command.description().length > 5, command.name())
  t.match(program.helpInformation(), '--data-dir <folder>')
})

t.test('a command ends without an error when its output is no longer read', async (t) => {
  const child = spawn(process.execPath, [join(SERVER_DIR, 'core', 'svc.js'), '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.same([stderr, code], ['', 0])
})

t.test('an unknown command and a wrong value are wrong usage', async (t) => {
  for (const args of [['fly'], ['scan', '--type', 'x'], ['scan', '--rom', '0'], ['export']]) {
    const program = await createProgram('1.2.3', features)
    for (const command of [program, ...program.commands]) command.configureOutput({ writeErr: () => {} })
    await t.rejects(program.parseAsync(args, { from: 'user' }), CommanderError, args.join(' '))
  }
})

t.test('svc config --help lists the sections, and the settings of one', async (t) => {
  const env = settings(createUsedDataDir(join(t.testdir({}), 'data')))
  const all = await runSvc(t, ['config', '--help'], env).ended
  t.match(all, { code: 0, output: /Usage: svc config .*^ {2}trash {8}Deleted files$/ms })
  const { code, output } = await runCommand(t, ['config', '--help', 'trash'], env)
  t.match({ code, output }, { code: 0, output: /^trash: Deleted files\n\n {2}trash\.keep_days\n/ })
  t.match(await runCommand(t, ['config', '--help', 'nope'], env), { code: 2, output: /^svc: The configuration has no section 'nope'/ })
})

t.test('table columns are as wide as their longest cell', async (t) => {
  t.equal(renderTable([['A', 'B'], ['long', 'x'], ['s', '']]), 'A     B\nlong  x\ns')
})

t.test('the package that npm added is found by its change, then by its name', async (t) => {
  t.equal(findAdded({ a: '1' }, { a: '1', b: 'file:../b' }, '/x/b'), 'b')
  t.equal(findAdded({ a: '1' }, { a: '2' }, 'a@2'), 'a')
  t.equal(findAdded({ '@s/a': '1', b: '1' }, { '@s/a': '1', b: '1' }, '@s/a@^1'), '@s/a')
  t.equal(findAdded({ x: 'file:../my' }, { x: 'file:../my' }, '/home/my'), 'x')
  t.equal(findAdded({}, {}, 'nothing'), undefined)
})

t.test('a plugin is not created with an invalid or taken key, nor over files', async (t) => {
  const folder = t.testdir({ full: { 'notes.txt': 'mine' } })
  const create = async (...args: string[]) => {
    const program = await createProgram('1.2.3', features)
    await program.parseAsync(['--data-dir', join(folder, 'data'), 'plugins', 'create', ...args], { from: 'user' })
  }
  await t.rejects(create('provider', 'Tide'), { exitCode: 2, message: /'Tide' is not a valid key of a plugin\. Use at most 32 lower-case letters/ })
  await t.rejects(create('provider', 'igdb', join(folder, 'igdb')),
    { exitCode: 2, message: /'igdb' is already installed, by @svc\/provider-igdb/ })
  await t.rejects(create('provider', 'platform', join(folder, 'platform')),
    { exitCode: 2, message: /^A provider cannot be called 'platform': .+ the field 'platform_id', which is one of the server's own: choose another key\.$/ })
  t.notOk(existsSync(join(folder, 'platform')))
  await t.rejects(create('channel', 'tide', join(folder, 'full')), { exitCode: 2, message: /full is not empty/ })
  const { code, output } = await runCommand(t, ['plugins', 'create', 'theme', 'tide'], settings(join(folder, 'data')))
  t.match({ code, output }, { code: 2, output: /Allowed choices are provider, channel, exporter/ })
  t.notOk(existsSync(join(folder, 'data')), 'the command needs no data directory')
})

t.test('the start script has the same flags as the processes it starts', async (t) => {
  const script = readFileSync(join(SERVER_DIR, 'core', 'svc.js'), 'utf8')
  const flags = /FLAGS = \[(.*)\]/.exec(script)?.[1]?.split(', ').map((flag) => flag.replaceAll("'", ''))
  t.same(flags, WEB_FLAGS)
  t.ok(flags?.includes('--disable-sigusr1'))
  const since = /PLUGINS_NODE = '(.*)'/.exec(script)?.[1]
  t.match(NODE_LEVEL, `>=${since} `, 'and the Node that it prefers is one that runs plugins')
})

t.test('a missing dependency is named with the command that installs it', async (t) => {
  const folder = t.testdir({ core: {}, 'package.json': readFileSync(join(SERVER_DIR, 'package.json'), 'utf8') })
  const script = join(folder, 'core', 'svc.js')
  writeFileSync(script, readFileSync(join(SERVER_DIR, 'core', 'svc.js')))
  // The folder lies below the project, whose packages would be found, so one name is changed.
  const json = readFileSync(join(folder, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), json.replace('"fastify":', '"fastify-that-is-gone":'))
  await t.rejects(execute(process.execPath, [script, 'start']),
    { code: 1, stderr: /^svc: The package 'fastify-that-is-gone' is not installed\. Run npm ci in / })
})
