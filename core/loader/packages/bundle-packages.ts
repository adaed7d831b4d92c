import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { SERVER_DIR } from '../../server-dir.ts'
import { BUNDLED, INDEX, digestFile, nameBundles } from './bundles.js'

/** Makes bundles import all other packages from where they are installed, as their own modules would. */
const OTHERS: Esbuild.Plugin = {
  name: 'other packages',
  setup (build) {
    build.onResolve({ filter: /^[^.]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      const isOwn = kind === 'entry-point' || BUNDLED.includes(path) || isBuiltin(path)
      if (isOwn || pluginData === OTHERS) return undefined
      const { path: file, errors } = await build.resolve(path, { kind, resolveDir, pluginData: OTHERS })
      // An optional package that is not installed fails where it is used.
      return { path: errors.length > 0 ? path : pathToFileURL(file).href, external: true }
    })
  }
}

/**
 * Runs work with esbuild and waits for the end of its process. The program that replaces this one (`runStripped`) knows
 * nothing of that process, which would stay a zombie.
 */
async function withEsbuild<T> (work: (esbuild: typeof Esbuild) => Promise<T>): Promise<T> {
  const started: ChildProcess[] = []
  const note = (message: unknown) => { started.push((message as { process: ChildProcess }).process) }
  subscribe('child_process', note)
  const esbuild = await import('esbuild')
  try {
    return await work(esbuild)
  } finally {
    unsubscribe('child_process', note)
    await esbuild.stop()
    await Promise.all(started.map(async (child) => {
      child.ref()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }))
  }
}

/**
 * Stores bundles of large packages for processes that start later, unless they are there (`strip-hook.js`). Names stay
 * as they are, because MikroORM uses them.
 *
 * @returns the name of their folder
 */
export async function bundlePackages (folder: string): Promise<string> {
  const name = nameBundles()
  if (existsSync(join(folder, name))) return name
  const staging = mkdtempSync(join(folder, 'bundles-'))
  const { metafile: { outputs } } = await withEsbuild(({ build }) => build({
    entryPoints: Object.fromEntries(BUNDLED.map((path) => [path, path])), outdir: staging, absWorkingDir: SERVER_DIR,
    bundle: true, splitting: true, format: 'esm', outExtension: { '.js': '.mjs' }, platform: 'node', conditions: [], metafile: true,
    minifyWhitespace: true, minifySyntax: true, legalComments: 'none', charset: 'ascii', logLevel: 'silent', plugins: [OTHERS]
  }))
  const bundles = Object.entries(outputs).map(([path, { entryPoint }]) =>
    ({ file: relative(staging, join(SERVER_DIR, path)), entryPoint }))
  const modules = bundles.flatMap(({ file, entryPoint }) => entryPoint === undefined ? [] : [[entryPoint, file]])
  const digests = Object.fromEntries(bundles.map(({ file }) => [file, digestFile(join(staging, file))]))
  writeFileSync(join(staging, INDEX), JSON.stringify({ modules, digests }))
  try {
    renameSync(staging, join(folder, name))
  } catch (err) {
    // Another process was faster.
    if (!existsSync(join(folder, name))) throw err
  }
  return name
}
