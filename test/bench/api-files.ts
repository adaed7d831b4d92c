import { copyFileSync, linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSecrets } from '../../core/access/secrets.ts'
import { createAddresses } from '../../plugins/resources/addresses.ts'
import { createRandom } from './library.ts'

/** The files that are downloaded, by the names that the bare program knows them by. */
const SIZES = { game: 64 * 1024 ** 2, part: 32 * 1024 ** 2, cover: 60_000 }
const COVER = 'roms/1/1/cover/big.png'

/** The ROM with the file `game`, and two ROMs with the file `part`; all of the first platform folder of the library. */
export const LARGE_ROM = 1
export const PARTS = [41, 81]
export const SECRET_KEY = 'a key for benchmarks only'
export const coverPath = () => createAddresses(createSecrets(SECRET_KEY)).locate(COVER)

/** Writes the files, each once, into an empty folder. */
export function writeFiles (folder: string): void {
  mkdirSync(folder, { recursive: true })
  const random = createRandom(1)
  for (const [name, size] of Object.entries(SIZES)) {
    const pattern = Buffer.from(Array.from({ length: 4_099 }, () => random(256)))
    writeFileSync(join(folder, name), Buffer.alloc(size, pattern))
  }
}

/** Gives a server the files, as ROMs of its library and as a cover. */
export function linkFiles (folder: string, { libraryDir, dataDir }: { libraryDir: string, dataDir: string }): void {
  const platform = join(libraryDir, 'roms', 'bench-2')
  mkdirSync(platform, { recursive: true })
  const pathOf = (rom: number) => join(platform, `Game ${String(rom).padStart(7, '0')} (Europe).zip`)
  linkSync(join(folder, 'game'), pathOf(LARGE_ROM))
  for (const rom of PARTS) linkSync(join(folder, 'part'), pathOf(rom))
  const cover = join(dataDir, 'resources', COVER)
  mkdirSync(dirname(cover), { recursive: true })
  copyFileSync(join(folder, 'cover'), cover)
}
