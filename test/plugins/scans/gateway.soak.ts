import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { answerPlanned, loadFixtures } from './redirected-support.ts'
import { buildScanTest } from './support.ts'
import { KEYS, KNOWN_ROMS, MORE, SETTINGS, addLibrary, picture } from './together-support.ts'

t.test('all built-in providers work behind a gateway without changes', async (t) => {
  const planned = [...KEYS.flatMap((key) => MORE[key] ?? []), picture, ...KEYS.flatMap(loadFixtures)]
  const gateway = await startServer(t, (asked, response) => answerPlanned(asked, response, planned))
  const test = await buildScanTest(t, {
    providers: [],
    builtIns: KEYS,
    config: {
      filesystem: { skip_hash_calculation: true },
      outgoing: { gateway: gateway.url },
      plugins: Object.fromEntries(KEYS.map((key) => [key, { enabled: true, ...SETTINGS[key] }]))
    }
  })
  await addLibrary(test, [], 0)
  await test.scan({ type: 'unmatched' })
  for (const { path, ids } of KNOWN_ROMS) {
    const [folder = '', name = ''] = path.split('/')
    t.match((await test.rom(folder, name)).ids, ids, path)
  }
  const hosts = new Set(gateway.requests.map((request) => request.split('/')[1]))
  for (const host of ['id.twitch.tv', 'api.igdb.com', 'playmatch.retrorealm.dev', 'hasheous.org']) t.ok(hosts.has(host), host)
  t.match(await test.rom('snes', 'Chrono Harbor (USA).sfc'), { path_cover_large: String }, 'pictures too')
})
