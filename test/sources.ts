import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { SERVER_DIR } from '../core/server-dir.ts'

/** Folders that hold no source of the project. */
export const IGNORED_FOLDERS = new Set(['node_modules', 'dist', 'coverage', 'data', '.git', '.tap'])

function listFiles (folder: string): string[] {
  return readdirSync(join(SERVER_DIR, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    // A package has a `data` folder of its own. Only the one at the top holds runtime data.
    if (IGNORED_FOLDERS.has(entry.name) && !(entry.name === 'data' && folder !== '')) return []
    return entry.isDirectory() ? listFiles(path) : [path]
  })
}

/** All files of the project, as paths from its root. */
export const FILES = listFiles('')
export const SOURCES = FILES.filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))

export const read = (path: string) => readFileSync(join(SERVER_DIR, path), 'utf8')

/** Neither JSDoc nor parents of nodes, which nothing here needs and which take a third of the time. */
const PARSED = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }
const parse = (path: string) => ts.createSourceFile(path, read(path), PARSED, false)

/** The syntax tree of each source file, by its path. */
export const parsed: ReadonlyMap<string, ts.SourceFile> = new Map(SOURCES.map((path) => [path, parse(path)]))

export function visit (node: ts.Node, look: (node: ts.Node) => void): void {
  look(node)
  ts.forEachChild(node, (child) => { visit(child, look) })
}
