import { SHIPPED_DIR } from './bundle.ts'
import { makeBundle, measureBundle } from './make-bundle.ts'

/** Makes the bundle of a package or image, and prints its size: npm run bundle */
const bundle = await makeBundle(SHIPPED_DIR, false)
const sizes = await measureBundle(bundle)
for (const { file, bytes, compressed } of sizes) {
  process.stdout.write(`${file.padEnd(32)} ${String(bytes).padStart(8)} ${String(compressed).padStart(8)} br\n`)
}
const first = new Set([bundle.entry, bundle.styles, ...bundle.preloads])
const total = sizes.filter(({ file }) => first.has(file)).reduce((sum, { compressed }) => sum + compressed, 0)
process.stdout.write(`The first page loads ${total} bytes of script and style.\n`)
