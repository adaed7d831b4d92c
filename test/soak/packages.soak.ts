import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { startServer as startService } from '../core/http/server.ts'
import { settings, waitUntilListening } from '../e2e/server.ts'
import { until } from '../until.ts'
import { run, start } from './image/namespace.ts'
import { ADMIN, AUTHORIZATION, WAIT_MS } from './server.ts'

// Tests the tarballs of `npm pack` for the SDK and every plugin, as a user with only npm gets them.

/** Packages that tests of packages import. */
const TEST_TOOLS = ['tap', 'fast-check', 'yazl', 'smtp-server', 'standardwebhooks']
/** Compiler options for every kind of project, because one file must compile in all. */
const RESOLUTIONS = {
  nodenext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  bundler: { module: 'ESNext', moduleResolution: 'Bundler' },
  exact: { module: 'NodeNext', moduleResolution: 'NodeNext', exactOptionalPropertyTypes: true }
}
const FILES = /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/(?!.*(?:^|\/)test\/).*\.(?:js|d\.ts|json))$/

interface Manifest { name: string, license?: string, description?: string, exports: object, svc?: { key: string } }
interface Packed { name: string, filename: string, files: { path: string }[] }

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown
const folders = ['sdk', ...globSync('{providers,channels,exporters}/*/package.json', { cwd: SERVER_DIR }).map(dirname),
  ...globSync('examples/*-minimal', { cwd: SERVER_DIR })]
const packages = folders.map((folder) => ({ folder, manifest: readJson(join(SERVER_DIR, folder, 'package.json')) as Manifest }))
const plugins = packages.filter(({ manifest }) => manifest.svc !== undefined)

const place = mkdtempSync(join(tmpdir(), 'svc-packages-'))
t.teardown(() => { rmSync(place, { recursive: true, force: true }) })
const tarballs = join(place, 'tarballs')
const project = join(place, 'project')
for (const folder of [tarballs, project]) mkdirSync(folder)
/** The environment without the variables that `npm test` sets for this repository. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|TAP|NODE_OPTIONS|SVC_)/i.test(name)))
const npm = (args: string[], cwd: string) => run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, env })

/** Node prints warnings into the same stream, so search for the first line of the list. */
const packed = await (async () => {
  const output = await npm(['pack', '--json', '--pack-destination', tarballs, ...folders.flatMap((folder) => ['--workspace', folder])], SERVER_DIR)
  return JSON.parse(output.slice(output.search(/^[[{]$/m))) as Packed[]
})()
const tarballOf = ({ name }: Manifest) => join(tarballs, packed.find((one) => one.name === name)?.filename ?? '')

t.test('a tarball has the files of its package.json, its documents and no tests', async (t) => {
  t.same(packed.map(({ name }) => name).sort(), packages.map(({ manifest }) => manifest.name).sort())
  for (const { name, files } of packed) {
    const paths = files.map(({ path }) => path)
    t.same(paths.filter((path) => !FILES.test(path)), [], name)
    const { manifest } = packages.find((one) => one.manifest.name === name) ?? {}
    t.match(manifest, { license: 'MIT', description: /\w/ })
    const named = JSON.stringify(manifest?.exports).matchAll(/"(?:types|default|\.\/package\.json)":"\.\/([^"]+)"/g)
    for (const [, path = ''] of named) t.ok(paths.includes(path), `${name} has ${path}`)
    t.ok(paths.includes('README.md') && paths.includes('CHANGELOG.md'), name)
  }
})

t.test('in an empty project', async (t) => {
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }))
  const { version } = readJson(join(SERVER_DIR, 'node_modules', 'typescript', 'package.json')) as { version: string }
  await npm(['install', ...packages.map(({ manifest }) => tarballOf(manifest)), `typescript@${version}`, '@types/node@24'], project)

  await t.test('all of them install beside one SDK', async (t) => {
    t.same(globSync('node_modules/**/@svc/plugin-sdk', { cwd: project }), ['node_modules/@svc/plugin-sdk'])
  })

  const names = plugins.map(({ manifest }) => manifest.name)
  writeFileSync(join(project, 'index.ts'), [
    "import { Type, defineProvider } from '@svc/plugin-sdk'",
    "import { readText } from '@svc/plugin-sdk/readers'",
    "import { describeProduction } from '@svc/plugin-sdk/scene'",
    "import { createRom, testProvider } from '@svc/plugin-sdk/testing'",
    "import { lastPart } from '@svc/plugin-sdk/titles'",
    "import { parseXml } from '@svc/plugin-sdk/xml'",
    ...names.map((name, index) => `import plugin${index} from '${name}'`),
    `export const plugins: { definition: { key: string } }[] = [${names.map((_name, index) => `plugin${index}`).join(', ')}]`,
    'export default defineProvider({',
    "  key: 'demo', name: 'Demo', id: 'integer', config: Type.Object({ apiKey: Type.String({ description: 'Key' }) }),",
    '  identify: async (rom, { config }) => config.apiKey === rom.fs_name ? { id: 1, name: createRom().fs_name, summary: undefined } : undefined',
    '})',
    'export const suite: typeof testProvider = testProvider',
    "export const text: string = lastPart(readText({ a: 'A: B' }, 'a') ?? '') + parseXml('<a/>')[0]?.name",
    'export const line: string = describeProduction({ types: [], companies: [], pages: [text] })',
    'export const wrong = defineProvider({',
    "  key: 'demo', name: 'Demo', id: 'integer',",
    '  // @ts-expect-error an id is a number here',
    "  identify: async () => ({ id: '1' })",
    '})'
  ].join('\n'))
  for (const [name, options] of Object.entries(RESOLUTIONS)) {
    await t.test(`types resolve under strict with ${name}`, async (t) => {
      const compilerOptions = { ...options, target: 'ES2024', strict: true, noEmit: true, declaration: true, types: ['node'] }
      writeFileSync(join(project, `tsconfig.${name}.json`), JSON.stringify({ compilerOptions, files: ['index.ts'] }))
      const { code, output } = await start('npx', ['tsc', '-p', `tsconfig.${name}.json`], { cwd: project, env }).ended
      t.equal(code, 0, output)
    })
  }

  await t.test('every entry point of the SDK loads without its sources', async (t) => {
    const { exports } = packages.find(({ folder }) => folder === 'sdk')?.manifest ?? { exports: {} }
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json')).map((entry) => entry.replace('.', '@svc/plugin-sdk'))
    t.ok(entries.length > 1)
    for (const entry of entries) {
      const code = `const names = Object.keys(await import('${entry}')); if (names.length === 0) process.exit(1)`
      t.match(await start(process.execPath, ['--input-type=module', '--eval', code], { cwd: project, env }).ended, { code: 0 }, entry)
    }
  })

  await t.test('the compiled code passes the tests of the sources', async (t) => {
    for (const tool of TEST_TOOLS) {
      rmSync(join(project, 'node_modules', tool), { recursive: true, force: true })
      symlinkSync(join(SERVER_DIR, 'node_modules', tool), join(project, 'node_modules', tool))
    }
    for (const { folder, manifest } of plugins) {
      const copy = join(project, 'tested', basename(folder))
      const installed = join(project, 'node_modules', manifest.name)
      cpSync(join(SERVER_DIR, folder, 'test'), join(copy, 'test'), { recursive: true })
      for (const file of ['package.json', 'README.md', 'CHANGELOG.md']) cpSync(join(installed, file), join(copy, file))
      const source = globSync('dist/{src/,}index.js', { cwd: installed }).map(dirname)[0] ?? ''
      const toCompiled = (path: string) =>
        pathToFileURL(resolve(installed, path.startsWith('src/') ? join(source, path.slice(4)) : join('dist', path))).href.replace(/\.ts$/, '.js')
      for (const name of readdirSync(join(copy, 'test')).filter((name) => name.endsWith('.ts'))) {
        const file = join(copy, 'test', name)
        writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(?<=from ')\.\.\/((?:src|data)\/[^']+)(?=')/g, (_, path: string) => toCompiled(path)))
      }
      for (const name of readdirSync(join(copy, 'test')).filter((name) => name.endsWith('.test.ts'))) {
        const { code, output } = await start(process.execPath, [join(copy, 'test', name)], { cwd: copy, env }).ended
        t.equal(code, 0, `${folder}/test/${name}${code === 0 ? '' : `\n${output}`}`)
      }
    }
  })
})

t.test('a server without plugins of its own', async (t) => {
  const [server, data, library] = ['server', 'data', 'library'].map((name) => join(place, name)) as [string, string, string]
  mkdirSync(server)
  const parts = ['core', 'plugins', 'sdk', 'node_modules', 'package.json'].map((name) => join(SERVER_DIR, name))
  // The files are hard links if both folders are on one disk.
  await run('sh', ['-c', 'cp -al "$@" 2> /dev/null || cp -a "$@"', 'sh', ...parts, server])
  const asked: string[] = []
  const service = await startService(t, async (request, response) => {
    asked.push(`${request.method} ${request.url} ${await text(request)}`)
    response.setHeader('content-type', 'application/json').end('{"games":[{"id":7,"title":"Chrono Harbor"}]}')
  })
  const svc = (...args: string[]) => start(process.execPath, [join(server, 'core', 'svc.js'), ...args], {
    cwd: place, env: { ...env, ...ADMIN, ...settings(data), SVC_LIBRARY_DIR: library, MINIMAL_API_URL: `${service.url}/api`, MINIMAL_API_KEY: 'not-a-real-key' }
  })
  const names = plugins.map(({ manifest }) => manifest.name).sort()

  await t.test('installs every plugin from a tarball', async (t) => {
    for (const { manifest } of plugins) {
      // The command fails unless the plugin is active, or lacks only its settings.
      const { code, output } = await svc('plugins', 'add', tarballOf(manifest)).ended
      t.equal(code, 0, output)
      t.match(output, new RegExp(`^${manifest.name} .*: (?:active|disabled)`, 'm'))
    }
  })

  await t.test('lists all plugins', async (t) => {
    const { code, output } = await svc('plugins', '--json').ended
    t.equal(code, 0, output)
    const records = output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
    t.same(records.map((record) => record.package).sort(), names)
    for (const { key, status, reason, origin } of records) {
      t.match({ status, origin }, { status: /^(?:active|disabled)$/, origin: 'community' }, `${String(key)}: ${String(reason)}`)
    }
  })

  await t.test('runs one plugin of each kind', async (t) => {
    const folder = join(library, 'roms', 'snes')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'Chrono Harbor (USA).sfc'), 'game')
    const running = svc('start')
    t.teardown(async () => {
      running.child.kill('SIGTERM')
      await running.ended
    })
    const { url } = await waitUntilListening({ ...running, pid: running.child.pid ?? 0 }, data, WAIT_MS)
    async function ask<Answer> (path: string, body?: object): Promise<Answer> {
      const answer = await fetch(`${url}/api/${path}`, {
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
      })
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      return await answer.json() as Answer
    }
    const isReady = async () => (await fetch(`${url}/api/health/ready`)).status === 200
    await until(isReady, 'a scan worker', { ...running, ms: WAIT_MS })
    const listed = await ask<{ package: string, status: string, seen_by: string }[]>('plugins')
    t.same(listed.map((one) => one.package).sort(), names)
    for (const { package: name, status, seen_by: by } of listed) {
      t.match({ status, by }, { status: /^(?:active|disabled)$/, by: /^(?:web|worker)$/ }, name)
    }

    const { task_id: scan } = await ask<{ task_id: string }>('tasks/scan', { type: 'quick', apis: ['minimal'] })
    const isOver = async () => !['queued', 'started'].includes((await ask<{ status: string }>(`tasks/${scan}`)).status)
    await until(isOver, 'the end of the scan', { ...running, ms: WAIT_MS })
    t.match(await ask('roms'), { items: [{ name: 'Chrono Harbor' }] })
    t.ok(asked.some((line) => line.startsWith('GET /api/games?title=Chrono')), 'where its variable says')

    const { id } = await ask<{ id: number }>('notification-channels', { type: 'minimal', name: 'Mine', url: `${service.url}/told` })
    t.same(await ask(`notification-channels/${id}/test`, {}), { ok: true, error: null })
    t.ok(asked.some((line) => line.startsWith('POST /told Test notification')))

    for (const [format, file] of [['minimal', 'minimal.csv'], ['gamelist', 'gamelist.xml']] as const) {
      const { code, output } = await svc('export', format).ended
      t.equal(code, 0, output)
      t.match(readFileSync(join(folder, file), 'utf8'), 'Chrono Harbor')
    }
  })
})
