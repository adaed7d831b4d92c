import { io } from 'socket.io-client'
import t from 'tap'
import { createPathMask } from '../../../core/config/path-mask.ts'
import { until } from '../../until.ts'
import { buildScanTest } from './support.ts'

type Heard = [event: string, payload: unknown][]

/** Collects the events of a scan and of a failed one on a socket without a session. */
async function listenAsGuest (t: Tap, config: Record<string, object>): Promise<{ heard: Heard, libraryDir: string }> {
  const { app, put, scan, libraryDir } = await buildScanTest(t, { providers: ['alpha'], config })
  const socket = io(await app.listen({ port: 0, host: '127.0.0.1' }), { path: '/ws/socket.io', transports: ['websocket'] })
  t.teardown(() => { socket.disconnect() })
  const heard: Heard = []
  socket.onAny((event: string, payload: unknown) => { heard.push([event, payload]) })
  await until(() => socket.connected, 'the guest is connected')
  const hears = (event: string) => until(() => heard.some(([name]) => name === event), event)
  await scan()
  await hears('scan:done_ko')
  await put({ 'roms/snes/Game.sfc': 'game' })
  await scan()
  await hears('scan:done')
  return { heard, libraryDir }
}
type Tap = Parameters<typeof buildScanTest>[0]

const names = (heard: Heard) => new Set(heard.map(([event]) => event))

t.test('with guests "all", guests get events of public ROMs and no paths of the machine', async (t) => {
  const { heard, libraryDir } = await listenAsGuest(t, { sockets: { guests: 'all' } })
  t.ok(names(heard).has('scan:scanning_rom'))
  t.ok(names(heard).has('scan:scanning_platform'))
  t.match(heard.find(([event]) => event === 'scan:done_ko')?.[1], /Put ROMs into .*<library>/)
  t.notMatch(JSON.stringify(heard), libraryDir)
})

t.test('by default guests get only the totals of a scan', async (t) => {
  const { heard } = await listenAsGuest(t, {})
  t.same([...names(heard)].sort(), ['scan:done', 'scan:done_ko', 'scan:update_stats'])
})

t.test('a masked path names its folder; paths with the same beginning stay', async (t) => {
  const mask = createPathMask({ data_dir: '/srv/svc+1', library_dir: '/srv/svc+1/library', libraries: {} })
  t.equal(mask('"/srv/svc+1/library/roms" and /srv/svc+1/library.'), '"<library>/roms" and <library>.')
  t.equal(mask('/srv/svc+1/config.yml, /srv/svc+10/x'), '<data>/config.yml, /srv/svc+10/x')
})
