import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { SERVER_DIR } from '../core/server-dir.ts'

/** Folders that are no part of the project, or that other tests change at the same time. */
export const ELSEWHERE = new Set(['node_modules', '.tap', '.git', 'dist', 'data'])
/** A block of TypeScript in a text, with the hidden comment before it. */
export const BLOCK = /(?:<!--\n([^]*?)\n?-->\n)?```ts\n([^]*?)```/g
/** Marks the place of the block in its comment; without the mark the block goes to the end. */
export const PLACE = '…'
/** The file name of a block that others import. */
export const NAME = /^\/\/ (\S+\.ts)\n?/

export const { config } = ts.readConfigFile(join(SERVER_DIR, 'tsconfig.json'), ts.sys.readFile) as { config: object }
export const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, SERVER_DIR)

/** Returns the blocks of a text as the files of a folder. */
export function extractBlocks (text: string, folder: string): Map<string, string> {
  return new Map([...text.matchAll(BLOCK)].map(([, comment = '', code = ''], index) => {
    const around = comment.replace(NAME, '')
    const whole = around.includes(PLACE) ? around.replace(PLACE, () => code) : `${around}\n${code}`
    return [join(folder, NAME.exec(comment)?.[1] ?? `block-${index + 1}.ts`), `${whole}\nexport {}\n`]
  }))
}

/** Files on disk, parsed once for all programs, because the language's libraries take longest. */
export const read = new Map<string, ts.SourceFile | undefined>()

/** Returns the compiler's errors in files that exist only in memory. */
export function compile (files: ReadonlyMap<string, string>): string[] {
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
export const folderOf = (path: string) => join(SERVER_DIR, 'sdk', 'readme', path.replaceAll('/', '-'))

export const readmes = globSync('**/README.md', { cwd: SERVER_DIR, exclude: (name) => ELSEWHERE.has(basename(name)) })
  .map((path) => path.replaceAll('\\', '/'))
