import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { type Bundle, MANIFEST, WEB_DIR, readFingerprint } from './bundle.ts'

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)
/** The best quality would take a second more at the first start, for a twentieth less. */
const BROTLI_QUALITY = 9

const COPIED = /\?file$/

/** Copies a file that a script imports as `…?file`, and gives the script its name in the bundle. */
const COPY_FILES: Plugin = {
  name: 'copy-files',
  setup (build) {
    build.onResolve({ filter: COPIED }, async ({ path, resolveDir, kind }) => {
      const found = await build.resolve(path.replace(COPIED, ''), { resolveDir, kind })
      return found.errors.length > 0 ? { errors: found.errors } : { path: found.path, namespace: 'copied-file' }
    })
    build.onLoad({ filter: /./, namespace: 'copied-file' }, async ({ path }) => ({ contents: await readFile(path), loader: 'file' }))
  }
}

const OPTIONS: BuildOptions = {
  absWorkingDir: SERVER_DIR,
  entryPoints: { main: join(WEB_DIR, 'main.tsx'), style: join(WEB_DIR, 'styles', 'main.css'), icon: join(WEB_DIR, 'icon.svg') },
  loader: { '.svg': 'copy' },
  plugins: [COPY_FILES],
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  metafile: true,
  write: false,
  legalComments: 'none',
  logLevel: 'silent',
  outdir: '/',
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  tsconfig: join(WEB_DIR, 'tsconfig.json'),
  define: { 'process.env.NODE_ENV': '"production"' }
}

/** Returns the names of all scripts that a script imports before it runs. */
function listImports ({ outputs }: Metafile, name: string): string[] {
  const found = new Set<string>([name])
  // A loop over a set includes elements that are added during the loop.
  for (const one of found) {
    for (const { path, kind } of outputs[one]?.imports ?? []) if (kind === 'import-statement') found.add(path)
  }
  return [...found].slice(1)
}

function describeBundle (metafile: Metafile): Pick<Bundle, 'entry' | 'styles' | 'icon' | 'preloads'> {
  const find = (pattern: RegExp): string => {
    const name = Object.keys(metafile.outputs).find((path) => pattern.test(basename(path)))
    if (name === undefined) throw new Error(`The bundle has no file ${String(pattern)}`)
    return name
  }
  const entry = find(/^main-\w+\.js$/)
  return {
    entry: basename(entry),
    styles: basename(find(/^style-\w+\.css$/)),
    icon: basename(find(/^icon-\w+\.svg$/)),
    preloads: listImports(metafile, entry).map((path) => basename(path))
  }
}

/** Writes a file and its compressed forms. @returns the encodings */
async function writeEncoded (path: string, content: Uint8Array): Promise<string[]> {
  await writeFile(path, content)
  if (path.endsWith('.map')) return []
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }
  const [br, gz] = await Promise.all([toBrotli(content, options), toGzip(content)])
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gzip`, gz)])
  return ['br', 'gzip']
}

/** The size of a bundle, for people. */
export interface BundleSize { file: string, bytes: number, compressed: number }

/**
 * Makes the bundle of the pages in a folder. The former one stays until the new one is complete.
 *
 * @param hasMaps true to write source maps, for people who debug the pages
 * @throws the error of esbuild, whose message names the place of a wrong source
 */
export async function makeBundle (folder: string, hasMaps = true): Promise<Bundle> {
  // Before the sources are bundled, so that a change meanwhile shows.
  const fingerprint = await readFingerprint()
  const esbuild = await import('esbuild')
  const { outputFiles = [], metafile } = await esbuild.build({ ...OPTIONS, sourcemap: hasMaps && 'external' })
  // Otherwise esbuild's own process would live as long as this one.
  await esbuild.stop()
  if (metafile === undefined) throw new Error('esbuild described no bundle')
  const staged = `${folder}.${process.pid}`
  await rm(staged, { recursive: true, force: true })
  await mkdir(staged, { recursive: true })
  const files: Bundle['files'] = {}
  await Promise.all(outputFiles.map(async ({ path, contents }) => {
    const name = basename(path)
    files[name] = { encodings: await writeEncoded(join(staged, name), contents) }
  }))
  const described = { ...describeBundle(metafile), fingerprint, files }
  await writeFile(join(staged, MANIFEST), JSON.stringify(described))
  await rm(folder, { recursive: true, force: true })
  await rename(staged, folder)
  return { ...described, folder }
}

/** Returns the sizes of the files of a bundle, largest first. */
export async function measureBundle ({ folder, files }: Bundle): Promise<BundleSize[]> {
  const names = Object.entries(files).filter(([, { encodings }]) => encodings.includes('br')).map(([name]) => name)
  const sizes = await Promise.all(names.map(async (file) => ({
    file, bytes: (await readFile(join(folder, file))).length, compressed: (await readFile(join(folder, `${file}.br`))).length
  })))
  return sizes.sort((a, b) => b.compressed - a.compressed)
}
