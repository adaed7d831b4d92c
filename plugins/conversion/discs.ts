import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { stemOf } from '../../core/files/stem-of.ts'
import { ArchiveRefusedError } from './archive-in-thread.ts'
import { type Chdman, readChdHeader } from './chdman.ts'
import { digestFiles } from './compare-contents.ts'
import { type Step, extensionOf, isDvdPlatform, isSheet } from './formats.ts'
import { describeLayout, listNames, readText, toBytes } from './sheets.ts'
import { makeFolder, removeFolder } from './work-folder.ts'

/** The tracks of a disc in their order, and their start positions. */
interface Disc {
  paths: string[]
  /** The start positions of the tracks; null for an image without a sheet. */
  layout: string | null
}

type Medium = 'cd' | 'gd' | 'dvd'

/** The extension of the main file that chdman writes for each medium. */
const EXTENSIONS: Record<Medium, string> = { cd: 'cue', gd: 'gdi', dvd: 'iso' }
/** Fast codecs for CHDs that are only compared, because these need not be small. */
const CHECK_CODECS: Record<Medium, string> = { cd: 'cdzl', gd: 'cdzl', dvd: 'zlib' }
const TAGS: [RegExp, Medium][] = [[/Tag='(?:CHT2|CHTR|CHCD)'/, 'cd'], [/Tag='(?:CHGD|CHGT)'/, 'gd'], [/Tag='DVD ?'/, 'dvd']]
const NO_DVD = 'this chdman does not support DVDs; install chdman 0.255 or later'

const command = (verb: 'create' | 'extract', medium: Medium) => `${verb}${medium === 'dvd' ? 'dvd' : 'cd'}`
const differs = () => new ArchiveRefusedError('the disc that chdman extracts differs from the original disc; nothing was replaced')

/** Reads a disc from its sheet. @param findPath returns the path of a file that the sheet names */
async function readDisc (sheet: string, findPath: (name: string) => string | undefined): Promise<Disc> {
  const text = await readText(sheet) ?? ''
  const paths: string[] = []
  const sizes = new Map<string, number>()
  for (const name of listNames(sheet, text)) {
    const path = findPath(name)
    if (path === undefined) throw differs()
    paths.push(path)
    sizes.set(name, (await stat(path)).size)
  }
  return { paths, layout: describeLayout(sheet, text, sizes) }
}

async function readFolder (folder: string, sheet: string): Promise<Disc> {
  const paths = new Map((await readdir(folder)).map((name) => [toBytes(name), join(folder, name)]))
  return await readDisc(join(folder, sheet), (name) => paths.get(name))
}

async function requireEqualDiscs (before: Disc, after: Disc, signal: AbortSignal): Promise<void> {
  if (before.layout !== after.layout) throw differs()
  const [one, other] = [await digestFiles(before.paths, signal), await digestFiles(after.paths, signal)]
  if (one.sha1 !== other.sha1 || one.size !== other.size) throw differs()
}

async function requireCommand (chdman: Chdman, verb: 'create' | 'extract', medium: Medium): Promise<void> {
  if (medium === 'dvd' && !await chdman.supports(command(verb, medium))) throw new ArchiveRefusedError(NO_DVD)
}

/** Extracts a CHD. @returns the name of the file that describes the result */
async function extractChd (
  chdman: Chdman, { chd, medium }: { chd: string, medium: Medium }, folder: string, stem: string
): Promise<string> {
  await requireCommand(chdman, 'extract', medium)
  const name = `${stem}.${EXTENSIONS[medium]}`
  const tracks = medium === 'cd' ? ['-ob', join(folder, `${stem}.bin`)] : []
  await chdman.run(command('extract', medium), '-i', chd, '-o', join(folder, name), ...tracks)
  return name
}

interface DiscTools { chdman: Chdman, signal: AbortSignal }

/** A file that was made, and its medium. */
interface MadeFile { path: string, medium: Medium }

async function checkCompressed (
  { chdman, signal }: DiscTools, { path: chd, medium }: MadeFile, { main, sources }: Step, work: string
): Promise<void> {
  const folder = await makeFolder(work, 'check')
  const name = await extractChd(chdman, { chd, medium }, folder, 'image')
  if (isSheet(main.file_name)) {
    const paths = new Map(sources.map((file) => [toBytes(file.file_name), file.absolute_path]))
    const before = await readDisc(main.absolute_path, (track) => paths.get(track))
    const after = await readFolder(folder, name)
    if (before.layout === null) throw differs()
    await requireEqualDiscs(before, after, signal)
  } else {
    const path = join(folder, medium === 'cd' ? 'image.bin' : name)
    await requireEqualDiscs({ paths: [main.absolute_path], layout: null }, { paths: [path], layout: null }, signal)
  }
  await removeFolder(folder)
}

async function checkExtracted (
  { chdman }: DiscTools, { path: image, medium }: MadeFile, dataSha1: string, work: string
): Promise<void> {
  const folder = await makeFolder(work, 'check')
  const chd = join(folder, 'image.chd')
  await chdman.run(command('create', medium), '-i', image, '-o', chd, '-c', CHECK_CODECS[medium])
  if ((await readChdHeader(chd))?.dataSha1 !== dataSha1) throw differs()
  await removeFolder(folder)
}

/** Creates the conversion of disc images to CHDs and back, which compares each result with its original. */
export function createDiscs (tools: DiscTools) {
  const { chdman } = tools
  return {
    /**
     * Makes a CHD of a disc image.
     *
     * @returns the names of the new files in `work`
     * @throws ArchiveRefusedError, ChdmanError
     */
    async compress (step: Step, slug: string, work: string): Promise<string[]> {
      const { main } = step
      const extension = extensionOf(main.file_name)
      const isDvd = extension === 'iso' && isDvdPlatform(slug)
      const medium = isDvd ? 'dvd' : extension === 'gdi' ? 'gd' : 'cd'
      await requireCommand(chdman, 'create', medium)
      const name = `${stemOf(main.file_name)}.chd`
      await chdman.run(command('create', medium), '-i', main.absolute_path, '-o', join(work, name))
      await checkCompressed(tools, { path: join(work, name), medium }, step, work)
      return [name]
    },

    /**
     * Extracts the disc image of a CHD.
     *
     * @returns the names of the new files in `work`
     * @throws ArchiveRefusedError, ChdmanError
     */
    async extract ({ main }: Step, work: string): Promise<string[]> {
      const chd = main.absolute_path
      const header = await readChdHeader(chd)
      if (header === null) throw new ArchiveRefusedError('it is not a CHD of version 5')
      if (header.hasParent) throw new ArchiveRefusedError('it contains only the differences from another CHD')
      const info = await chdman.run('info', '-i', chd)
      const medium = TAGS.find(([tag]) => tag.test(info))?.[1]
      if (medium === undefined) throw new ArchiveRefusedError('it contains no CD, GD-ROM or DVD')
      const name = await extractChd(chdman, { chd, medium }, work, stemOf(main.file_name))
      const names = await readdir(work)
      await checkExtracted(tools, { path: join(work, name), medium }, header.dataSha1, work)
      return names
    }
  }
}
export type Discs = ReturnType<typeof createDiscs>
