import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import t from 'tap'
import { parse } from 'yaml'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { DOCKERFILE, isSent, readStages } from '../soak/image/dockerfile.ts'

const EXAMPLES = join(SERVER_DIR, 'examples', 'self-host')

interface Compose { services: Record<string, object>, volumes: object, networks: object }

const readCompose = (name: string) => parse(readFileSync(join(EXAMPLES, name), 'utf8')) as Compose

t.test('the Dockerfile is valid and builds for any processor', async (t) => {
  t.same(validate(DOCKERFILE).map(({ message, range }) => [range.start.line + 1, message]), [])
  const stages = readStages()
  t.same(stages.map(({ platform }) => platform), ['$BUILDPLATFORM', '$BUILDPLATFORM', '$BUILDPLATFORM', null])
})

t.test('the image keeps the package.json of every dependency, which svc looks for', (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(SERVER_DIR, 'package.json'), 'utf8')) as { dependencies: object }
  const [, removed = ''] = /rm -rf ((?:node_modules\S+ ?)+)/.exec(DOCKERFILE) ?? []
  t.match(removed, 'node_modules/', 'the image removes parts of packages')
  const folders = new Set(removed.trim().split(' '))
  t.same(Object.keys(dependencies).filter((name) => folders.has(`node_modules/${name}`)), [])
  t.end()
})

t.test('the build context contains no secret, no library and no test', async (t) => {
  for (const path of ['examples/self-host/.env', '.env', '.env.local', 'providers/igdb/.env', 'data/secret.key', '.git/config',
    'examples/self-host/library/roms/snes/Game.sfc', 'test/support.ts', 'sdk/test/text.test.ts', 'providers/igdb/test/index.test.ts',
    'node_modules/pg/package.json', 'sdk/dist/src/index.js', '.npmrc']) t.notOk(isSent(path), path)
  for (const path of ['package.json', 'package-lock.json', 'LICENSE', 'core/svc.js', 'core/cli/container.sh', 'sdk/data/platforms.json',
    'providers/demozoo/data/platforms.json', 'examples/provider-minimal/test/index.test.ts']) t.ok(isSent(path) && existsSync(join(SERVER_DIR, path)), path)
})

t.test('the compose files give the server only volumes to write and needed rights', async (t) => {
  const { services: { svc, nginx }, volumes, networks } = readCompose('compose.yml')
  t.match(svc, { read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'], cap_add: ['CHOWN', 'DAC_READ_SEARCH', 'SETGID', 'SETUID'] })
  t.match(nginx, { read_only: true, depends_on: { svc: { condition: 'service_healthy' } } })
  t.same([Object.keys(volumes), Object.keys(networks)], [['svc-data'], ['proxy']])
  const other = readCompose('compose.postgres.yml')
  t.match(other.services.svc, { depends_on: { postgres: { condition: 'service_healthy' } }, networks: ['proxy', 'database'] })
  t.same([Object.keys(other.volumes), Object.keys(other.networks)], [['svc-postgres'], ['database']])
})

t.test('svc in the image refuses invalid settings and names them', { skip: process.platform === 'win32' }, async (t) => {
  const cases: [NodeJS.ProcessEnv, RegExp][] = [
    [{ PUID: 'me' }, /PUID='me'.*numbers/],
    [{ PGID: '10 0' }, /PGID='10 0'.*numbers/],
    [{ UMASK: '022x' }, /UMASK='022x'.*octal/]
  ]
  for (const [env, message] of cases) {
    const { status, stderr } = spawnSync('sh', [join(SERVER_DIR, 'core', 'cli', 'container.sh'), 'start'], {
      env: { PATH: process.env.PATH, ...env }, encoding: 'utf8'
    })
    t.equal(status, 2)
    t.match(stderr, message)
  }
})
