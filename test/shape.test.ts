import { existsSync, readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { SERVER_DIR } from '../core/server-dir.ts'
import { FILES, IGNORED_FOLDERS, SOURCES, parsed, read, visit } from './sources.ts'
import { listComments, listTitles } from './words.ts'

/** The first sentence of each folder's README. */
const SENTENCES: Record<string, string> = {
  '.': 'A self-hosted game library server whose metadata providers, notification channels and exporters are npm packages.',
  core: 'Everything the server needs before it has a single feature: config, database, auth, sockets, queues, the OpenAPI document and the plugin loader.',
  plugins: "The server's own features, one Fastify plugin per folder; nothing here is published.",
  providers: 'One package per metadata source; a provider turns a ROM into metadata and never touches the database.',
  channels: 'One package per way out of the inbox; a channel delivers one notification or throws.',
  exporters: 'One package per frontend format; an exporter turns games, and the text already there, into text and never touches the disk.',
  sdk: 'The contract, the types and the test kit for anyone writing a provider, channel or exporter; start here.',
  examples: 'Small complete programs to copy, one for each kind of user.',
  test: "Tests of the assembled server; a package's own tests live in the package."
}
const KINDS: Record<string, string> = { providers: 'provider', channels: 'channel', exporters: 'exporter' }
const README_HEADINGS = ['What it does', 'Configuration', 'Limits and attribution', 'Troubleshooting']
/** What all features together are: these know each of them. */
const LISTS = new Set(['plugins/index.ts', 'plugins/migrations.ts'])
/** The entries of processes, the only files of core that import the features. */
const COMPOSITION = 'core/composition/'

const LOCAL = /^(\.\.|core|plugins|providers|channels|exporters|sdk|examples|test)(\/|$)/
const isLocal = (target: string) => LOCAL.test(target)
/** Files of core and of the features. */
const SERVER_SOURCES = SOURCES.filter((path) => /^(core|plugins)\//.test(path))
const isTest = (path: string) => /(^|\/)test\//.test(path) || /\.(test|soak)\.ts$/.test(path)
/** A local file as a path from the root, else the name as written. */
function toTarget (path: string, name: string): string {
  return name.startsWith('.') ? relative(SERVER_DIR, resolve(SERVER_DIR, dirname(path), name)).replaceAll(sep, '/') : name
}

function findImports (source: ts.SourceFile, path: string): string[] {
  const imports: string[] = []
  visit(source, (node) => {
    const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    const isStatement = ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
    const from = isStatement ? node.moduleSpecifier : isCall ? node.arguments[0] : undefined
    if (from === undefined || !ts.isStringLiteral(from)) return
    imports.push(toTarget(path, from.text))
  })
  return imports
}

/** Expects that a search finds nothing in these files. One assertion for all, because thousands would take seconds. */
function expectNone (t: Test, paths: readonly string[], find: (path: string) => readonly string[]): void {
  t.ok(paths.length > 0, 'there are files')
  t.same(paths.flatMap((path) => find(path).map((found) => `${path}: ${found}`)), [])
}

const imported = new Map([...parsed].map(([path, source]) => [path, findImports(source, path)]))
/** Returns the imports of a file: paths from the root for local files, else the name as written. */
const listImports = (path: string): readonly string[] => imported.get(path) ?? []

/** The packages of plugins, published ones and examples, with the required kind of each. */
const PACKAGES = [...Object.keys(KINDS), 'examples'].flatMap((parent) => readdirSync(join(SERVER_DIR, parent))
  .map((name) => ({ folder: `${parent}/${name}`, parent, name }))
  .filter(({ folder }) => existsSync(join(SERVER_DIR, folder, 'package.json')))
  .map((place) => ({ ...place, json: JSON.parse(read(`${place.folder}/package.json`)) as PackageJson }))
  .filter(({ json }) => json.svc !== undefined || json.keywords?.includes('svc-plugin') === true))

interface PackageJson {
  name: string
  exports?: object
  keywords?: string[]
  svc?: { kind: string, key: string, sdk: string }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  scripts?: Record<string, string>
}

const SDK = '@svc/plugin-sdk'
/** The entry points of the SDK, as imports name them. Only tests import the test kit. */
const SDK_ENTRIES = Object.keys((JSON.parse(read('sdk/package.json')) as PackageJson).exports ?? {})
  .filter((entry) => entry !== './package.json').map((entry) => entry.replace(/^\./, SDK))
const SDK_IN_SOURCES = SDK_ENTRIES.filter((entry) => entry !== `${SDK}/testing`)

t.test('core, features and plugins import the SDK by its entry points only', async (t) => {
  t.ok(SDK_IN_SOURCES.includes(`${SDK}/titles`), 'there are some')
  expectNone(t, SOURCES.filter((path) => /^(core|plugins|providers|channels|exporters|examples)\//.test(path)), (path) => {
    const entries = isTest(path) ? SDK_ENTRIES : SDK_IN_SOURCES
    return listImports(path).filter((target) => target.startsWith('sdk/') || target.startsWith(SDK))
      .filter((target) => !entries.includes(target))
  })
})

t.test('core imports no feature, except in core/composition, which nothing imports', async (t) => {
  expectNone(t, SOURCES.filter((path) => path.startsWith('core/') && !isTest(path)), (path) => listImports(path)
    .filter((target) => isLocal(target) && !target.startsWith('core/'))
    .filter((target) => !(path.startsWith(COMPOSITION) && target === 'plugins/index.ts')))
  expectNone(t, SOURCES, (path) => listImports(path).filter((target) => target.startsWith(COMPOSITION)))
})

t.test('core is at most a quarter of core and features', async (t) => {
  const countLines = (folder: string) => SOURCES.filter((path) => path.startsWith(folder))
    .reduce((lines, path) => lines + read(path).split('\n').length - 1, 0)
  const [core, features] = [countLines('core/'), countLines('plugins/')]
  t.ok(core / (core + features) <= 0.25, `core has ${core} lines, features have ${features}`)
})

t.test('a feature imports core, and only stateless files of other features', async (t) => {
  const paths = SOURCES.filter((path) => path.startsWith('plugins/') && !isTest(path) && !LISTS.has(path))
  expectNone(t, paths, (path) => {
    const feature = path.split('/')[1] ?? ''
    return listImports(path).filter(isLocal).filter((target) => {
      if (target.startsWith('core/') || target.startsWith(`plugins/${feature}/`)) return false
      return !target.startsWith('plugins/') || /^plugins\/[\w-]+\/((feature|plugin|routes|service|jobs|events)\.ts$|routes\/)/.test(target)
    })
  })
})

const roomOf = (path: string) => dirname(path)
const featureOf = (path: string) => path.startsWith('core/') ? 'core' : /^plugins\/[\w-]+(?=\/)/.exec(path)?.[0] ?? null

t.test('other features import only files at the top of a feature', async (t) => {
  expectNone(t, SERVER_SOURCES, (path) => listImports(path)
    .filter((target) => /^plugins\/[\w-]+\/[\w-]+\//.test(target) && featureOf(target) !== featureOf(path)))
})

/** Pairs of folders that still import each other. The list may only get shorter. */
const TWO_WAY: string[] = []

t.test('folders of a feature, and of core, import each other one way', async (t) => {
  const ways = new Set(SOURCES.filter((path) => featureOf(path) !== null).flatMap((path) => listImports(path)
    .filter((target) => featureOf(target) === featureOf(path) && roomOf(target) !== roomOf(path))
    .filter((target) => !roomOf(target).startsWith(roomOf(path)) && !roomOf(path).startsWith(roomOf(target)))
    .map((target) => `${roomOf(path)} ${roomOf(target)}`)))
  const pairs = [...ways].map((way) => way.split(' ') as [string, string])
    .filter(([from, to]) => from < to && ways.has(`${to} ${from}`)).map((pair) => pair.join(' '))
  t.same(pairs.sort(), TWO_WAY)
})

/** Files that import one another in a circle, as paths from the first on; null for none. Types count too. */
function findCircle (path: string, way: readonly string[], clear: Set<string>): string[] | null {
  if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
  if (clear.has(path)) return null
  for (const target of listImports(path).filter((target) => parsed.has(target))) {
    const circle = findCircle(target, [...way, path], clear)
    if (circle !== null) return circle
  }
  clear.add(path)
  return null
}

t.test('imports of the server have no cycles, type imports included', async (t) => {
  const clear = new Set<string>()
  expectNone(t, SERVER_SOURCES, (path) => findCircle(path, [], clear) ?? [])
})

t.test('wire forms of features are made in files named views', async (t) => {
  const paths = SOURCES.filter((path) => path.startsWith('plugins/') && !/\bviews\.ts$/.test(path))
  expectNone(t, paths, (path) => read(path).match(/^export (const|function|async function) to\w*View\b/mg) ?? [])
})

const STATEMENT = /\bsql(<[^`]*>)?`|\.(query|execute)(<[^(]*>)?\(/

/** Files with conditions and orders, the parts of the statements in `rows.ts`. */
const PARTS = /^plugins\/(\w+\/visibility|platforms\/changed-after|roms\/(filters\/(id-queries|list-conditions|own-filters|search-conditions|siblings|value-filters)|lists\/(list-order|grouping)))\.ts$/

t.test('database statements are in files named rows', async (t) => {
  const elsewhere = SOURCES.filter((path) => path.startsWith('plugins/') && !/([/-]rows\.ts$|^plugins\/migrations\/)/.test(path))
    .filter((path) => !PARTS.test(path) && STATEMENT.test(read(path)))
  t.same(elsewhere, [])
})

/** Entities are ignored, because they refer to each other as the tables do. */
t.test('of two features at most one imports the other', async (t) => {
  const featureOf = (path: string) => /^plugins\/([\w-]+)\//.exec(path)?.[1] ?? null
  const ways = new Set(SOURCES.filter((path) => !LISTS.has(path)).flatMap((path) => listImports(path)
    .filter((target) => !target.endsWith('entities.ts') && featureOf(target) !== featureOf(path))
    .filter((target) => featureOf(path) !== null && featureOf(target) !== null)
    .map((target) => `${featureOf(path)} ${featureOf(target)}`)))
  const tied = [...ways].map((way) => way.split(' ') as [string, string])
    .filter(([from, to]) => from < to && ways.has(`${to} ${from}`))
  t.same(tied, [])
})

t.test('the server imports no plugin package by name', async (t) => {
  const names = new Set(PACKAGES.map(({ json }) => json.name))
  expectNone(t, SERVER_SOURCES, (path) => listImports(path).filter((target) => names.has(target)))
})

/** Returns the modules that a file loads before it runs. A statement that imports only types loads nothing. */
function listLoaded (path: string): string[] {
  const { statements = [] } = parsed.get(path) ?? {}
  return statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement) &&
      statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly
    const from = isImport || isExport ? statement.moduleSpecifier : undefined
    return from !== undefined && ts.isStringLiteral(from) ? [toTarget(path, from.text)] : []
  })
}

/** Adds everything that the files of a set load at their start. */
function addLoaded (loaded: Set<string>): void {
  // A loop over a set includes elements that are added during the loop.
  for (const path of loaded) for (const target of listLoaded(path)) loaded.add(target)
}

t.test('a process loads rarely used packages only at first use', async (t) => {
  const loaded = new Set([
    'core/composition/child.ts', 'core/server.ts', 'core/cli/start.ts',
    ...['', 'readers/', 'titles/', 'xml/'].map((part) => `sdk/src/${part}index.ts`),
    ...SOURCES.filter((path) => /^plugins\/[\w-]+\/plugin\.ts$/.test(path))
  ])
  addLoaded(loaded)
  t.ok(loaded.has('fastify') && loaded.has('pg'), 'of the packages that all need')
  // An import of node:http or node:tls reads all of its exports. Some load much more: see core/process/node-http.ts.
  for (const late of ['pg-boss', 'undici', 'jose', 'html-to-text', 'saxes', 'pino-pretty', 'libarchive-wasm', 'nodemailer', 'sharp',
    'ssh2', 'prom-client', 'openid-client', '@node-rs/argon2', '@fastify/static', 'node:http', 'node:tls', 'yaml', '@fastify/swagger', 'commander',
    'core/loader/process/plugin-process.ts', 'plugins/backup/write-backup.ts', 'plugins/conversion/run-conversion.ts',
    'plugins/dats/load/load-file.ts', 'plugins/imports/run-import.ts', 'plugins/patches/apply/formats.ts',
    'plugins/scans/run/run-scan.ts']) {
    t.notOk(loaded.has(late), late)
  }
})

t.test('the process that hashes loads neither schemas nor settings, nor do its threads', async (t) => {
  for (const start of ['process', 'worker']) {
    const loaded = new Set([`plugins/hashing/threads/${start}.ts`])
    addLoaded(loaded)
    t.ok(loaded.has('core/archives/limits.ts'), `${start}.ts knows the limits of archives`)
    // The start of both delays the list of new games.
    t.same([...loaded].filter((path) => /^(core\/(config|loader)\/|@sinclair\/typebox)/.test(path)), [], start)
  }
})

t.test('no text has a line that looks like a comment, which the stored code would lose', async (t) => {
  const found: string[] = []
  for (const [path, source] of parsed) {
    if (isTest(path)) continue
    visit(source, (node) => {
      if (ts.isTemplateLiteralToken(node) && /\n\s*\/[/*]/.test(node.getText(source))) found.push(path)
    })
  }
  t.same(found, [], 'see core/loader/packages/compact-code.ts')
})

t.test('the SDK imports nothing of this repository but itself', async (t) => {
  expectNone(t, SOURCES.filter((path) => path.startsWith('sdk/')), (path) => listImports(path)
    .filter((target) => (isLocal(target) && !target.startsWith('sdk/')) || /^@svc\/(?!plugin-sdk)/.test(target)))
})

t.test('a plugin package imports itself, the SDK and its own dependencies', async (t) => {
  for (const { folder, json } of PACKAGES) {
    const allowed = [...Object.keys(json.dependencies ?? {}), ...SDK_IN_SOURCES]
    const isOwn = (target: string) =>
      target.startsWith(`${folder}/src/`) || (target.startsWith(`${folder}/data/`) && target.endsWith('.json'))
    expectNone(t, SOURCES.filter((path) => path.startsWith(`${folder}/src/`)), (path) => listImports(path)
      .filter((target) => isLocal(target) ? !isOwn(target) : !isBuiltin(target) && !allowed.includes(target)))
    expectNone(t, SOURCES.filter((path) => path.startsWith(`${folder}/test/`)), (path) => listImports(path)
      .filter((target) => isLocal(target) && !target.startsWith(`${folder}/`)))
  }
})

t.test('every plugin package has the same shape', async (t) => {
  t.ok(PACKAGES.length > 0)
  for (const { folder, parent, name, json } of PACKAGES) {
    const kind = KINDS[parent] ?? json.svc?.kind ?? ''
    t.match(json.svc, { kind, sdk: /^\^\d+/ }, `${folder}: manifest`)
    if (parent === 'examples') t.equal(`${json.svc?.kind}-${json.svc?.key}`, name, `${folder}: folder is kind and key`)
    else t.equal(json.svc?.key, name, `${folder}: key is the folder's name`)
    t.match(json.name, new RegExp(`svc[-/]${kind}-${json.svc?.key}$`), `${folder}: name says kind and key`)
    t.ok(json.keywords?.includes('svc-plugin'), `${folder}: keyword`)
    t.ok(json.peerDependencies?.[SDK], `${folder}: the SDK is a peer`)
    t.same(Object.keys(json.scripts ?? {}).filter((script) => /^(pre|post)?install$/.test(script)), [], `${folder}: no install script`)
    t.match(json.scripts?.prepack, /tsc --build|npm run build/, `${folder}: is built when it is packed`)
    for (const file of ['README.md', 'CHANGELOG.md', 'tsconfig.build.json', 'src/index.ts', 'test/index.test.ts']) {
      t.ok(FILES.includes(`${folder}/${file}`), `${folder}/${file}`)
    }
    const headings = [...read(`${folder}/README.md`).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    t.same(headings.filter((heading) => README_HEADINGS.includes(heading ?? '')), README_HEADINGS, `${folder}: README headings`)
    t.match(read(`${folder}/CHANGELOG.md`), /^## \d+\.\d+\.\d+/m, `${folder}: CHANGELOG names a release`)
    t.match(read(`${folder}/test/index.test.ts`), /\btest(Provider|Channel|Exporter)\b/, `${folder}: runs the conformance suite`)
  }
})

t.test('every top folder opens its README with its sentence', async (t) => {
  const folders = readdirSync(SERVER_DIR, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !IGNORED_FOLDERS.has(entry.name) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
  t.same(folders.sort(), Object.keys(SENTENCES).filter((name) => name !== '.').sort(), 'no other folders')
  for (const [folder, sentence] of Object.entries(SENTENCES)) {
    const first = read(join(folder, 'README.md')).split('\n').find((line) => line !== '' && !line.startsWith('#'))
    t.equal(first, sentence, folder)
  }
})

t.test('a feature has the name of its folder', async (t) => {
  expectNone(t, FILES.filter((path) => /^plugins\/[\w-]+\/feature\.ts$/.test(path)), (path) =>
    [path.split('/')[1] ?? ''].filter((folder) => !new RegExp(`\\bname: '${folder}'`).test(read(path))))
})

t.test('the README of the features lists each feature once', async (t) => {
  const folders = readdirSync(join(SERVER_DIR, 'plugins'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'migrations').map(({ name }) => name)
  const [, table = ''] = read('plugins/README.md').split('| Features |')
  const rows = table.split('\n\n', 1)[0]?.split('\n').slice(2) ?? []
  const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))
  t.same(listed.sort(), folders.sort())
})

/** Programs that people run by hand. */
const PRINTS = /^(core\/cli|examples\/[\w-]+\/main)/

/** Returns the name of a forbidden syntax; null for any other node. */
function describeBan (node: ts.Node, path: string, source: ts.SourceFile): string | null {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'the type any'
  if (ts.isNonNullExpression(node)) return 'a non-null assertion'
  if (ts.isEnumDeclaration(node)) return 'an enum'
  const isConsole = ts.isPropertyAccessExpression(node) && node.expression.getText(source) === 'console'
  return isConsole && !PRINTS.test(path) ? `console.${node.name.text}` : null
}

t.test('sources contain no any, non-null assertions, enums or console output', async (t) => {
  const found: string[] = []
  for (const [path, source] of parsed) {
    if (isTest(path)) continue
    visit(source, (node) => {
      const ban = describeBan(node, path, source)
      if (ban !== null) found.push(`${path}: ${ban} in line ${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`)
    })
  }
  t.same(found, [])
})

/** Matches a message with advice: a second sentence, or the name of a setting, the log or the administrator. */
const ADVICE = /[.)] [A-Z]|\b(SVC|OIDC)_[A-Z]|config\.yml|\bsee the (log|plugins)|\bagain\b|administrator/

t.test('an error with advice for people is an ApiError or StartError, not an Error', async (t) => {
  const found: string[] = []
  for (const [path, source] of parsed) {
    if (!/^(core|plugins)\//.test(path)) continue
    visit(source, (node) => {
      if (!ts.isNewExpression(node) || node.expression.getText(source) !== 'Error') return
      const message = node.arguments?.[0]?.getText(source) ?? ''
      if (ADVICE.test(message)) found.push(`${path}: ${message}`)
    })
  }
  t.same(found, [])
})

/** The most lines of a function. Lists of routes may be longer, because they declare rather than decide. */
const LINES_MAX = 99
/** Functions of this length count as long. Their number may only fall. Components do not count: they are markup. */
const LONG_LINES = 60
const LONG_MAX = 85
const PARAMETERS_MAX = 4
/** A method of a library's class that is overridden. */
const OVERRIDING = new Set(['core/archives/zip.ts read'])

/** Lists functions with a body in sources of the server: path, name, lines and parameters. */
function listFunctions (): { name: string, lines: number, parameters: string[] }[] {
  const functions: { name: string, lines: number, parameters: string[] }[] = []
  for (const [path, source] of parsed) {
    if (!/^(core|plugins)\//.test(path) || isTest(path)) continue
    visit(source, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return
      const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line
      functions.push({
        name: `${path} ${node.name?.getText(source) ?? 'without a name'}`,
        lines: lineOf(node.end) - lineOf(node.getStart(source)) + 1,
        parameters: node.parameters.map(({ name }) => name.getText(source)).filter((name) => name !== 'this')
      })
    })
  }
  return functions
}

const FUNCTIONS = listFunctions()

t.test('functions take at most four parameters; a caller and a database are one', async (t) => {
  const many = FUNCTIONS.filter(({ name, parameters: [first, second, ...others] }) =>
    (first === 'db' && second === 'caller') || (others.length + 2 > PARAMETERS_MAX && !OVERRIDING.has(name)))
  t.same(many, [])
})

t.test('no function is longer than a few screens, except lists of routes', async (t) => {
  const functions = FUNCTIONS.filter(({ name }) => !/routes/i.test(name))
  t.same(functions.filter(({ lines }) => lines > LINES_MAX), [])
  const long = functions.filter(({ name, lines }) => lines >= LONG_LINES && !name.includes('.tsx ')).map(({ name }) => name)
  t.ok(long.length <= LONG_MAX, `${long.length} functions have ${LONG_LINES} lines or more: ${long.join(', ')}`)
})

/** Words that open a comment with a riddle: its subject is known only at its end. */
const RIDDLE = /^(What|Whether|Those|Who|Whoever|How|Where|Of|The same)\b/
/** The largest share of comments that may open with one of these words. It may only fall. */
const RIDDLES_MAX = 0.03
const TITLE_MAX_LENGTH = 80
/** The largest number of longer test titles. It may only fall. */
const LONG_TITLES_MAX = 0
/** File names that say nothing in a list of files. */
const EMPTY_NAMES = new Set(['around', 'common', 'given', 'helpers', 'kept', 'misc', 'parts', 'place', 'places', 'settle', 'shared',
  'stage', 'take', 'taken', 'util', 'utils', 'work'])

t.test('comments name their subject first', async (t) => {
  const comments = [...parsed].flatMap(([path, source]) => listComments(source).map((text) => ({ path, text })))
  const riddles = comments.filter(({ text }) => RIDDLE.test(text))
  const share = riddles.length / comments.length
  t.ok(comments.length > 1_000)
  t.ok(share <= RIDDLES_MAX, `${riddles.length} of ${comments.length} comments open with a riddle`)
})

t.test('test titles are short sentences', async (t) => {
  const titles = [...parsed].filter(([path]) => /\.(test|soak)\.ts$/.test(path)).flatMap(([, source]) => listTitles(source))
  const long = titles.filter((title) => title.length > TITLE_MAX_LENGTH)
  t.ok(titles.length > 1_000)
  t.ok(long.length <= LONG_TITLES_MAX, `${long.length} titles are longer than ${TITLE_MAX_LENGTH} characters, such as '${long[0]}'`)
})

t.test('file names say what is in them', async (t) => {
  t.same(SOURCES.filter((path) => EMPTY_NAMES.has(path.replace(/^.*\//, '').replace(/\.tsx?$/, ''))), [])
})

/** Folders at the root of most machines (Filesystem Hierarchy Standard 3.0, chapter 3). */
const STANDARD_FOLDERS = ['/', '/home/', '/media/', '/mnt/', '/opt/', '/root/', '/srv/', '/tmp/', '/usr/', '/var/']

t.test('no file contains the path of the repository on its author\'s machine', async (t) => {
  const outside = `${dirname(SERVER_DIR)}/`
  // Documents and examples name standard folders, wherever the repository lies.
  const isTelling = !STANDARD_FOLDERS.includes(outside)
  const texts = FILES.filter((path) => /\.(ts|js|json|md|ya?ml|conf|html|css|xml|txt)$/.test(path) && path !== 'package-lock.json')
  expectNone(t, texts, (path) => isTelling && read(path).includes(outside) ? [outside] : [])
})
