import t from 'tap'
import { WHOLE, ZOOM_MAX, limit, move, squareOf } from '../../../plugins/console/web/pages/account/crop.ts'
import { createServiceSchema } from '../../../plugins/console/web/pages/account/apprise-form.ts'
import { readAgent } from '../../../plugins/console/web/pages/account/user-agent.ts'
import { type Notification, viewOf, wordsOf } from '../../../plugins/console/web/pages/notifications/notification-text.ts'
import { editableSchema, groupOf, hasSettings, switchOf } from '../../../plugins/console/web/pages/setup/provider-list.ts'
import { IDLE, SHOWN_MAX, addGame, begin, catchUp, count, finish, findScan, readScan } from '../../../plugins/console/web/pages/setup/scan-state.ts'
import type { components } from '../../../plugins/console/web/api/schema.d.ts'
import { strengthOf } from '../../../plugins/console/web/pages/sign-in/password-strength.ts'
import { CHUNK_BYTES, countChunks, listMissing, toHeader } from '../../../plugins/console/web/pages/upload/chunks.ts'
import { guessPlatform } from '../../../plugins/console/web/pages/upload/guess-platform.ts'
import { en } from '../../../plugins/console/web/i18n/en.ts'

type Task = components['schemas']['TaskStatus']

t.test('the strength of a password grows with its surprises', async (t) => {
  const grades: [string, number][] = [
    ['', 0], ['short', 0], ['aaaaaaaa', 1], ['abcdefgh', 1], ['12345678', 1], ['kx7Qp2vz', 2], ['seven green lanterns', 4], ['Tr0ub4dor&3', 3]
  ]
  for (const [password, grade] of grades) t.equal(strengthOf(password), grade, password)
  t.ok(strengthOf('margarete7', 'margarete') < strengthOf('margarete7'), 'the own name adds nothing')
})

t.test('a crop stays within the picture and is a square', async (t) => {
  for (const size of [{ width: 800, height: 600 }, { width: 10, height: 900 }, { width: 512, height: 512 }]) {
    let view = WHOLE
    for (const [right, down, zoom] of [[3, 3, 1], [-9, 2, 2.5], [0.2, -5, 9], [1, 1, 0.1]] as const) {
      view = limit(size, { ...move(size, view, right, down), zoom })
      const { left, top, side } = squareOf(size, view)
      t.ok(left >= 0 && top >= 0 && left + side <= size.width + 1e-9 && top + side <= size.height + 1e-9)
      t.ok(view.zoom >= 1 && view.zoom <= ZOOM_MAX)
    }
  }
})

t.test('browsers and apps are named by their header', async (t) => {
  const cases: [string, string | null, string | null][] = [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox', 'Linux'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0', 'Edge', 'Windows'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1', 'Safari', 'iOS'],
    ['Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36', 'Chrome', 'Android'],
    ['Argosy/1.4 (Android 13)', 'Argosy', 'Android'], ['curl/8.5.0', 'curl', null], ['', null, null], ['<script>', null, null]
  ]
  for (const [header, app, system] of cases) t.match(readAgent(header), { app, system }, header)
})

const notification = (fields: Partial<Notification>): Notification => ({
  id: 1, kind: 'custom', level: 'info', title: null, body: null, link: null, icon: null, data: {}, actor: null, read_at: null,
  created_at: '2026-01-01T00:00:00Z', ...fields
})

t.test('notifications have words and lead to their subject', async (t) => {
  const { kinds } = en.notifications
  t.same(wordsOf(notification({ kind: 'scan_completed', data: { new_roms: 3 } }), kinds), { title: 'Scan finished', body: '3 new games.' })
  const failed = { new_roms: 0, failed_lookups: 2, provider_failures: ['provider igdb failed 2 times'] }
  t.equal(wordsOf(notification({ kind: 'scan_completed', data: failed }), kinds).body, 'No new games. 2 lookups failed: provider igdb failed 2 times')
  t.same(wordsOf(notification({ title: 'Hello', body: null }), kinds), { title: 'Hello', body: '' })
  t.same(wordsOf(notification({ kind: 'of a later version' }), kinds), { title: 'of a later version', body: '' })
  t.same(wordsOf(notification({ kind: 'task_failed', data: { title: 7 } }), kinds), { title: 'Task failed: ', body: '' }, 'poor data')
  t.equal(viewOf(notification({ link: '/rom/7' })), 'roms/7')
  t.equal(viewOf(notification({ kind: 'device_install_failed', data: { rom_id: 9 } })), 'roms/9')
  t.equal(viewOf(notification({ link: '//elsewhere.example/x' })), 'elsewhere.example/x', 'links stay on this server')
  t.equal(viewOf(notification({ kind: 'role_changed' })), null)
})

const plugin = (key: string, status: 'active' | 'disabled' | 'failed' = 'disabled') => ({
  kind: 'provider' as const, key, name: key, package: key, version: null, status, reason: null, origin: 'built-in' as const, seen_by: 'web' as const,
  attribution: null, circuit: null, allowances: [], paused_until: null
})

t.test('providers are sorted by what they need', async (t) => {
  const schemas = {
    provider_keyed_config: {
      required: ['apiKey', 'days'],
      properties: { apiKey: { type: 'string', 'x-env': 'KEYED_API_KEY', description: 'A key' }, days: { default: 3, 'x-env': 'KEYED_DAYS' } }
    },
    provider_free_config: { required: ['enabled'], properties: { enabled: { type: 'boolean', default: false, 'x-env': 'FREE_ENABLED' } } }
  }
  t.equal(groupOf(plugin('keyed'), schemas), 'account')
  t.equal(groupOf(plugin('free'), schemas), 'off')
  t.equal(groupOf(plugin('keyed', 'active'), schemas), 'ready')
  t.equal(groupOf(plugin('keyed', 'failed'), schemas), 'failed')
  t.equal(switchOf(plugin('keyed'), schemas), undefined)
  t.equal(switchOf(plugin('free'), schemas), 'enabled')
  t.notOk(hasSettings(plugin('unknown'), schemas))
  t.match(editableSchema(plugin('free'), schemas, { enabled: 'FREE_ENABLED' }), { properties: {}, required: [] }, 'a fixed setting has no field')
  const own = { provider_own_config: { required: ['url', 'key'], properties: { url: { default: 'https://a.example' }, key: {}, enabled: { type: 'boolean' } } } }
  t.same(Object.keys(editableSchema(plugin('own'), own, {}).properties as object), ['enabled', 'key', 'url'], 'switches and needed settings come first')
})

t.test('the newest scan is read from the tasks, with the reasons why games have no cover', async (t) => {
  const task = (status: Task['status'], meta: Task['meta'], type: Task['task_type'] = 'scan'): Task => ({
    task_name: 'A task', task_id: '', task_key: null, status, task_type: type, meta, created_at: null, enqueued_at: null, started_at: null, ended_at: null
  })
  const problems = [{ platform: 'snes', path: 'a.zip', reason: 'no archive' }, { platform: '', path: '', reason: 'provider libretro failed' }]
  const ended = task('finished', { scan_stats: { total_roms: 3 }, platform: 'SNES', problems, problem_count: 7 })
  t.equal(findScan([task('started', {}, 'cleanup'), ended]), ended)
  t.match(readScan(ended), {
    phase: 'done', stats: { total_roms: 3 }, problems: { count: 7, reasons: ['a.zip: no archive', 'provider libretro failed'] }
  })
  t.match(readScan(task('started', { scan_stats: null, platform: null })), { phase: 'running', platform: '', stats: null, problems: { count: 0 } })
})

t.test('a page that lost events of its scan gets its games from the server', async (t) => {
  const games = [{ id: 3 }, { id: 2 }] as unknown as Parameters<typeof addGame>[1][]
  const stats = { total_roms: 3 } as Parameters<typeof finish>[1]
  const stored = (id: string, phase: 'running' | 'done') => ({ scan: { ...IDLE, id, phase, stats }, games })
  const idsOf = (state: ReturnType<typeof catchUp>) => state.games.map(({ id }) => id)
  t.match(catchUp(IDLE, stored('a', 'running')), { phase: 'running', id: 'a', stats })
  t.same(catchUp(IDLE, stored('a', 'done')), IDLE, 'a scan of long ago is not shown')
  t.same(catchUp(begin(), stored('former', 'done')), begin())
  const own = { ...begin(), id: 'own' }
  t.same(idsOf(catchUp(addGame(own, { id: 1 } as never), stored('own', 'done'))), [3, 2, 1])
  t.equal(catchUp(own, stored('own', 'done')).phase, 'done', 'the end was lost')
  t.equal(catchUp(own, stored('former', 'done')), own)
  t.equal(catchUp(finish(own, stats), stored('own', 'running')).phase, 'done', 'the event is newer')
  t.same(idsOf(catchUp(count(IDLE, stats), stored('other', 'running'))), [3, 2], 'somebody else started it')
})

t.test('the scan shows each game once, newest first, up to a limit', async (t) => {
  const game = (id: number, name: string | null = null) => ({ id, name }) as Parameters<typeof addGame>[1]
  let state = begin()
  for (let id = 1; id <= SHOWN_MAX + 5; id++) state = addGame(state, game(id))
  state = addGame(state, game(SHOWN_MAX + 1, 'with a cover'))
  t.equal(state.games.length, SHOWN_MAX)
  t.equal(state.games[0]?.id, SHOWN_MAX + 5)
  t.equal(state.games.find(({ id }) => id === SHOWN_MAX + 1)?.name, 'with a cover')
  t.equal(finish(state, { total_roms: 1 } as Parameters<typeof finish>[1]).phase, 'done')
  t.equal(IDLE.phase, 'idle')
})

t.test('chunks cover a file without gaps, and only the missing ones are sent', async (t) => {
  for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES + 7]) {
    const chunks = listMissing(size)
    t.equal(chunks.length, countChunks(size))
    t.equal(chunks.reduce((sum, { start, end }) => sum + end - start, 0), size)
    t.ok(chunks.every(({ start }, index) => start === (chunks[index - 1]?.end ?? 0)))
  }
  t.same(listMissing(3 * CHUNK_BYTES, [0, 2]).map(({ index }) => index), [1])
  t.equal(Buffer.from(toHeader('Pokémon – 赤'), 'latin1').toString('utf8'), 'Pokémon – 赤')
})

t.test('only clear extensions choose a platform', async (t) => {
  const slugs = new Set(['snes', 'gba'])
  t.equal(guessPlatform('Game.SFC', slugs), 'snes')
  t.equal(guessPlatform('Game.gba', slugs), 'gba')
  for (const name of ['Game.zip', 'Game.iso', 'Game', 'Game.nes', '.constructor', 'x.constructor', '__proto__']) t.equal(guessPlatform(name, slugs), null, name)
})

t.test('the fields of a notification service become a schema', async (t) => {
  const field = (key: string, rest: object) => ({
    key, label: key, type: 'string' as const, required: false, private: false, advanced: false, default: null, values: null, min: null, max: null, ...rest
  })
  const schema = createServiceSchema({
    id: 'ntfy',
    name: 'ntfy',
    setup_url: null,
    url_fields: [],
    fields: [field('mode', { advanced: true, type: 'choice', values: ['a', 'b'] }), field('token', { private: true, required: true }), field('port', { type: 'int', min: 1 })]
  })
  t.match(schema, {
    required: ['token'],
    properties: { token: { type: 'string', writeOnly: true }, port: { type: 'integer', minimum: 1 }, mode: { enum: ['a', 'b'] } }
  })
  t.same(Object.keys(schema.properties as object), ['token', 'port', 'mode'])
})
