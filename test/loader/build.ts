import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Writes the output of a package's `npm run build`, without declarations. */
export function buildPackage (folder: string): void {
  mkdirSync(join(folder, 'dist'), { recursive: true })
  for (const name of readdirSync(join(folder, 'src'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(folder, 'src', name), 'utf8'), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true
      }
    })
    writeFileSync(join(folder, 'dist', name.replace(/\.ts$/, '.js')), outputText)
  }
}
