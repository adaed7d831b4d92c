import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { SERVER_DIR } from '../core/server-dir.ts'

/** Folders that are no part of the project, or that other tests change at the same time. */
const ELSEWHERE = new Set(['node_modules', '.tap', '.git', 'dist', 'data'])
/** A block of TypeScript in a text, with the hidden comment before it. */
const BLOCK = /(?:<!--\n([^]*?)\n?-->\n)?```ts\n([^]*?)```/g
/** Marks the place of the block in its comment; without the mark the block goes to the end. */
const PLACE = '…'
/** The file name of a block that others import. */
const NAME = /^\/\/ (\S+\.ts)\n?/

const { config } = ts.readConfigFile(join(SERVER_DIR, 'tsconfig.json'), ts.sys.readFile) as { config: object }
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, SERVER_DIR)

/** Returns the blocks of a text as the files of a folder. */
function extractBlocks (text: string, folder: string): Map<string, string> {
  return new Map([...text.matchAll(BLOCK)].map(([, comment = '', code = ''], index) => {
    const around = comment.replace(NAME, '')
    const whole = around.includes(PLACE) ? around.replace(PLACE, () => code) : `${around}\n${code}`
    return [join(folder, NAME.exec(comment)?.[1] ?? `block-${index + 1}.ts`), `${whole}\nexport {}\n`]
  }))
}

/** Files on disk, parsed once for all programs, because the language's libraries take longest. */
const read = new Map<string, ts.SourceFile | undefined>()

/** Returns the compiler's errors in files that exist only in memory. */
function compile (files: ReadonlyMap<string, string>): string[] {
  const host = ts.createCompilerHost(options)
  const folders = [...files.keys()].flatMap((path) => [join(path, '..'), join(path, '..', '..')])
  const program = ts.createProgram([...files.keys()], options, {
    ...host,
    fileExists: (path) => files.has(path) || host.fileExists(path),
    readFile: (path) => files.get(path) ?? host.readFile(path),
    directoryExists: (path) => folders.includes(path) || host.directoryExists?.(path) === true,
    getSourceFile: (path, version, ...rest) => {
      const text = files.get(path)
      if (text !== undefined) return ts.createSourceFile(path, text, version)
      if (!read.has(path)) read.set(path, host.getSourceFile(path, version, ...rest))
      return read.get(path)
    }
  })
  return [...files.keys()].flatMap((path) => ts.getPreEmitDiagnostics(program, program.getSourceFile(path)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

/** Returns a folder inside the SDK's folder, where packages are found as its readers find them. */
const folderOf = (path: string) => join(SERVER_DIR, 'sdk', 'readme', path.replaceAll('/', '-'))

const readmes = globSync('**/README.md', { cwd: SERVER_DIR, exclude: (name) => ELSEWHERE.has(basename(name)) })
  .map((path) => path.replaceAll('\\', '/'))

/** Links to files of the project. A link with a scheme leads elsewhere. */
const LINK = /\]\(([^)#\s:]+)(?:#[^)]*)?\)/g

t.test('links in documents lead to files', async (t) => {
  const documents = [...readmes, 'CONTRIBUTING.md']
  const broken = documents.flatMap((path) => [...readFileSync(join(SERVER_DIR, path), 'utf8').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !existsSync(join(SERVER_DIR, dirname(path), target)))
    .map((target) => `${path}: ${target}`))
  t.same(broken, [])
})

t.test('the README and CONTRIBUTING stay short', async (t) => {
  t.ok(readFileSync(join(SERVER_DIR, 'README.md')).length <= 8 * 1024)
  t.ok(readFileSync(join(SERVER_DIR, 'CONTRIBUTING.md')).length <= 10 * 1024)
})

t.test('the TypeScript in every README compiles against the SDK', async (t) => {
  const blocksOf = (path: string) => [...extractBlocks(readFileSync(join(SERVER_DIR, path), 'utf8'), folderOf(path))]
  const files = new Map(readmes.flatMap(blocksOf))
  t.ok(files.size >= 5, 'there are some')
  t.same(compile(files), [])
})

t.test('an unknown export of the SDK and an unknown property of a definition are found', async (t) => {
  const text = [
    "```ts\nimport { findBestTitel } from '@svc/plugin-sdk'\nfindBestTitel()\n```",
    "<!--\nimport { defineProvider } from '@svc/plugin-sdk'\ndefineProvider({ key: 'demo', name: 'Demo', id: 'integer', " +
      'getById: async () => undefined, … })\n-->\n```ts\nlimit: { concurrency: 4 }\n```'
  ].join('\n')
  const problems = compile(extractBlocks(text, folderOf('wrong')))
  t.equal(problems.length, 2)
  t.match(problems[0], /findBestTitel/)
  t.match(problems[1], /'limit' does not exist|limits/)
})
