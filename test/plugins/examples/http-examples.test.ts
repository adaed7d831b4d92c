import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import ts from 'typescript'
import { type Answers, readHttpFile, sendStep } from '../../http-file.ts'
import { buildTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'

const PASSWORD = 'a password for tests'

const server = await buildTestApp(t, {
  env: { SVC_DEVICE_INSTALL_ENABLED: 'true' }, library: { roms: { snes: { 'Game (USA).sfc': 'the game' } } }
})
const { app, admin } = server
await app.listen({ port: 0, host: '127.0.0.1' })
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
await addRom(server, { fs_name: 'Game (USA).sfc' })
const made = await app.inject({
  method: 'POST', url: '/api/users', headers: admin,
  payload: { username: 'player', email: 'player@example.org', password: PASSWORD, role: 'admin' }
})
t.equal(made.statusCode, 201, made.body)

/** Has a conversation as it is written down; the answers by the names that it gives them. */
async function play (name: string): Promise<Answers> {
  const { variables, steps } = readHttpFile(readFileSync(new URL(`../../../examples/http/${name}.http`, import.meta.url), 'utf8'))
  const settings = new Map([...variables, ['server', url], ['user', 'player'], ['password', PASSWORD]])
  const answers: Answers = new Map()
  for (const step of steps) {
    const answer = await sendStep(step, settings, answers)
    const text = await answer.text()
    t.equal(answer.status, step.status, `${name}: ${step.title}: ${text.slice(0, 300)}`)
    if (step.name !== null) answers.set(step.name, answer.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text)
  }
  return answers
}

t.test('the conversation of pairing goes as it is written down', async (t) => {
  const answers = await play('pairing')
  t.match(answers.get('token'), { access_token: /^svc_/, scopes: ['me.read', 'roms.read'] })
})

t.test('a sync with a conflict runs as the example says, and keeps both sides', async (t) => {
  const answers = await play('sync')
  t.match(answers.get('plan'), { operations: [{ type: 'upload' }] })
  t.match(answers.get('conflict'), { operations: [{ type: 'conflict', destination: String, source: String }] })
  t.equal(answers.get('fetched'), 'theirs')
  const saves = answers.get('saves') as { id: number }[]
  t.equal(saves.length, 2)
})

t.test('the conversation of an install goes as it is written down', async (t) => {
  t.match((await play('install')).get('reported'), { status: 'done' })
})

t.test('the page for browsers is a script that can be read, and calls what there is', async (t) => {
  const page = readFileSync(new URL('../../../examples/companion-browser/index.html', import.meta.url), 'utf8')
  const [, script = ''] = /<script type="module">(.*)<\/script>/s.exec(page) ?? []
  t.same(ts.transpileModule(script, { reportDiagnostics: true, compilerOptions: { allowJs: true } }).diagnostics, [])
  t.notMatch(page, /innerHTML|(src|href)="http/)
  const { paths } = (await app.inject({ url: '/openapi.json' })).json<{ paths: object }>()
  const called = [...script.matchAll(/['`](\/api\/[^'`?]+)/g)].map(([, path = '']) => path.replace(/\$\{[^}]*\}/g, '{}'))
  t.ok(called.length >= 5, called.join())
  const served = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
  t.same(called.filter((path) => !served.includes(path)), [])
})

t.test('a file of requests is read with its names, statuses and variables', (t) => {
  const { variables, steps } = readHttpFile('@a = 1\n\n### First: 201\n# @name one\nPOST {{a}}\nX: y\n\n{}\n\n### Second: 404\nGET b\n')
  t.same([...variables], [['a', '1']])
  t.same(steps, [
    { title: 'First', name: 'one', status: 201, lines: ['POST {{a}}', 'X: y', '', '{}'] },
    { title: 'Second', name: null, status: 404, lines: ['GET b'] }
  ])
  t.end()
})
