import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { FILES_MAX, listTestFiles, orderFiles, programOf, takeFiles, takerOf } from './write-groups.ts'

const IMPORT = "import t from 'tap'"
const PASSES = `${IMPORT}\nt.test('is right', async (t) => { t.ok(true) })`
const TIMEOUT_S = 3

/** What a group of these files, by name, writes, and how its process ends. */
async function run (t: Test, files: Record<string, string>): Promise<{ code: number | null, output: string }> {
  const folder = t.testdir(files)
  const names = Object.keys(files).map((name) => relative(SERVER_DIR, join(folder, name)))
  const program = join(folder, 'group.mjs')
  writeFileSync(program, programOf(names))
  const { code, output } = await runProgram(program)
  return { code, output: output.replaceAll(`${relative(SERVER_DIR, folder)}/`, '') }
}

async function runProgram (program: string): Promise<{ code: number | null, output: string }> {
  const child = spawn(process.execPath, ['--import=./test/note-nothing.js', ...process.execArgv, program], {
    cwd: SERVER_DIR, env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S), TAP_CHILD_ID: '1' }, stdio: ['ignore', 'pipe', 'inherit']
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: code as number | null, output }
}

t.test('files of a group run one after the other, each as a test of its name', async (t) => {
  const { code, output } = await run(t, { 'a.js': PASSES, 'b.js': "import { test } from 'tap'\ntest('too', async (t) => { t.ok(1) })" })
  t.equal(code, 0, output)
  t.match(output, /^ok 1 - a\.js[^]*^ok 2 - b\.js/m)
})

t.test('a file that fails is named, and those after it run', async (t) => {
  const failing = {
    'an assertion': `${IMPORT}\nt.test('is wrong', async (t) => { t.equal(1, 2) })`,
    'an error while it is read': "throw new Error('broken')",
    'a teardown that fails': `${PASSES}\nt.teardown(() => { throw new Error('broken') })`,
    'a test that does not end': `${IMPORT}\nt.test('hangs', () => new Promise((resolve) => setTimeout(resolve, ${2 * TIMEOUT_S}_000)))`
  }
  for (const [what, content] of Object.entries(failing)) {
    await t.test(what, async (t) => {
      const { code, output } = await run(t, { 'bad.js': content, 'good.js': PASSES })
      t.equal(code, 1, output)
      t.match(output, /^not ok \d - bad\.js/m)
      t.match(output, /^ok \d - good\.js/m)
    })
  }
})

t.test('a file that ends the process is named and fails the group', async (t) => {
  const ending = {
    'an exit without a word': 'process.exit(0)',
    'an exit from a test that is under way': `${IMPORT}\nt.test('ends', async (t) => { t.ok(true); process.exit(0) })`,
    'an error that nobody caught': `${IMPORT}\nt.test('is late', () => new Promise(() => setTimeout(() => { throw new Error('late') })))`,
    'a promise that nobody caught':
      `${IMPORT}\nt.test('is late', async (t) => { t.ok(true); Promise.reject(new Error('late')); await new Promise(setImmediate) })`
  }
  for (const [what, content] of Object.entries(ending)) {
    await t.test(what, async (t) => {
      const { code, output } = await run(t, { 'a.js': PASSES, 'bad.js': content, 'c.js': PASSES })
      t.not(code, 0, output)
      t.match(output, /^not ok \d - (bad\.js|late\n[^]*fileName: bad\.js)/m)
    })
  }
})

t.test('what a file does to the environment and the directory ends with it', async (t) => {
  const { code, output } = await run(t, {
    'a.js': "process.env.SVC_A = '1'\ndelete process.env.PATH\nprocess.chdir('/')",
    'b.js': `import t from 'tap'
t.same([process.env.SVC_A, process.env.PATH, process.cwd()], [undefined, ${JSON.stringify(process.env.PATH)}, ${JSON.stringify(SERVER_DIR)}])`
  })
  t.equal(code, 0, output)
})

t.test('every file is taken by one process, and one by no more than a bounded number', async (t) => {
  const files = orderFiles(listTestFiles())
  t.ok(files.includes(relative(SERVER_DIR, import.meta.filename)))
  t.same(files.toSorted(), listTestFiles())
  const folder = t.testdir({ taken: {} })
  const queue = { folder: join(folder, 'taken'), files }
  const [first, second] = [takeFiles(queue, join(folder, 'a.mjs')), takeFiles(queue, join(folder, 'b.mjs'))]
  t.same([first.next().value, second.next().value, first.next().value], files.slice(0, 3))
  t.same([...first].length, FILES_MAX - 2)
  t.match(readFileSync(join(folder, 'a.mjs'), 'utf8'), programOf([files[0] ?? '', files[2] ?? '']).slice(0, -4), 'its program repeats them')
  const more = Math.ceil(files.length / FILES_MAX)
  const rest = [...second, ...Array.from({ length: more }, () => [...takeFiles(queue, join(folder, 'c.mjs'))]).flat()]
  t.equal(rest.length, files.length - 1 - FILES_MAX)
  t.equal(new Set(rest).size, rest.length)
})

t.test('a process for which no file is left is none that failed', async (t) => {
  const folder = t.testdir({ taken: {} })
  const program = join(folder, 'none.mjs')
  writeFileSync(program, takerOf({ folder: join(folder, 'taken'), files: [] }))
  const { code, output } = await runProgram(program)
  t.equal(code, 0, output)
  t.match(output, /^1\.\.0 # other processes have taken all files/m)
})
