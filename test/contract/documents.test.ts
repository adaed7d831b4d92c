import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { shareTestApp } from '../support.ts'
import { type Document, type Surface, listBreaks, readSurface } from './surface.ts'

const fresh = shareTestApp(t)
const SURFACE = new URL('surface.json', import.meta.url)

interface Events {
  channels: Record<string, { address: string, messages: Record<string, object> }>
  operations: Record<string, { action: string }>
  components: { messages: Record<string, { name: string, payload: object }>, schemas: Record<string, object> }
}

/** Lists the events that the types of features declare, such as `'scan:done': …` in the maps that they extend. */
function listDeclared (): string[] {
  const folder = new URL('../../plugins/', import.meta.url)
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(path, folder), 'utf8'))
  return texts.filter((text) => /interface (Server|Device)Events/.test(text))
    .flatMap((text) => [...text.matchAll(/^.*'([a-z]+:[a-z_]+)': (?!\{ summary)/gm)].map(([, name = '']) => name))
}

t.test('every event of every feature is in the document, with its payload', async (t) => {
  const { app } = await fresh(t)
  const { channels, operations, components } = (await app.inject({ url: '/asyncapi.json' })).json<Events>()
  t.same(Object.values(channels).map(({ address }) => address), ['/', '/devices'])
  const names = Object.values(components.messages).map(({ name }) => name)
  const declared = listDeclared()
  t.ok(declared.includes('install:queued') && declared.length > 20, declared.join())
  t.same(declared.filter((name) => !names.includes(name)), [], 'describe these with app.sockets.describe')
  t.equal(operations.scanStop?.action, 'receive')
  t.equal(operations.scanDone?.action, 'send')
  t.same(components.messages.installUpdated?.payload, { $ref: '#/components/schemas/InstallRequest' })
  t.ok('InstallRequest' in components.schemas)
  t.match((await app.inject({ url: '/openapi.json' })).json<{ info: { description: string } }>().info.description, '/asyncapi.json')
})

t.test('without a major version nothing that clients rely on is removed', async (t) => {
  const { app } = await fresh(t)
  const now = readSurface((await app.inject({ url: '/openapi.json' })).json<Document>())
  if (process.env.SVC_WRITE_SURFACE === '1') writeFileSync(SURFACE, `${JSON.stringify(now, null, 1)}\n`)
  const released = JSON.parse(readFileSync(SURFACE, 'utf8')) as Surface
  t.same(listBreaks(released, now), [], 'raise the major version and run npm run surface:api')

  const { version, operations, schemas } = released
  const broken: Surface = {
    version,
    operations: { ...operations, getSave: { at: 'GET /api/saves/{id}', parameters: ['query gone'], required: [], takes: [], answers: [] } },
    schemas: { ...schemas, Save: { fields: { lost: 'string', id: 'integer | string' }, required: [] }, Negotiate: { fields: {}, required: [] } }
  }
  const breaks = listBreaks(broken, now)
  t.match(breaks, new Set(['getSave takes no query gone any more', 'Save.lost is gone', 'Save.id was integer | string and is integer']))
  t.same(listBreaks(broken, { ...now, version: '99.0.0' }), [], 'a major version may')
})
