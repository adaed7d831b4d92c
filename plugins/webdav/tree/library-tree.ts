import type { FastifyInstance } from 'fastify'
import { notFound } from '../../../core/errors.ts'
import type { FileReply } from '../../resources/file-reply.ts'
import type { Owner } from '../rows.ts'
import {
  type InnerFile, type RomEntry, listEntries, selectEntry, selectInnerFiles, selectPlatformFolders
} from './library-rows.ts'
import { type Resource, toHref, yieldAll } from './multistatus.ts'

const TYPE = 'application/octet-stream'

/** A file or folder of the tree. */
interface Node {
  parts: readonly string[]
  /** Null for a folder. */
  file: { id: number, size: number } | null
  modified_at: number | null
}

const folder = (...parts: string[]): Node => ({ parts, file: null, modified_at: null })

function toNode (platform: string, entry: RomEntry): Node {
  const { fs_name: name, is_folder: isFolder, file_id: id, file_size_bytes: size, modified_at: modified } = entry
  if (isFolder || id === null) return folder(platform, name)
  return { parts: [platform, name], file: { id, size }, modified_at: modified }
}

/** Returns the path of a file below the folder of its ROM. */
const innerPath = ({ fs_path: path, fs_name: name }: RomEntry, file: InnerFile): string[] =>
  `${file.file_path}/${file.file_name}`.slice(`${path}/${name}/`.length).split('/')

/** Returns the entries of a folder within a folder ROM; null if it has none. */
function listFolder (
  entry: RomEntry, files: readonly InnerFile[], above: readonly string[], inner: readonly string[]
): Node[] | null {
  const nodes = new Map<string, Node>()
  for (const file of files) {
    const path = innerPath(entry, file)
    const name = path[inner.length]
    if (name === undefined || !inner.every((part, index) => part === path[index])) continue
    const parts = [...above, ...inner, name]
    const { id, file_size_bytes: size, modified_at: modified } = file
    const isFile = path.length === inner.length + 1
    nodes.set(name, isFile ? { parts, file: { id, size }, modified_at: modified } : folder(...parts))
  }
  return nodes.size === 0 ? null : [...nodes.values()]
}

const absent = (parts: readonly string[]) => notFound(`There is no file '${parts.join('/').slice(0, 200)}' in the library`)

/** Creates the read-only tree of the library: platforms, ROMs, and the files of ROMs that are folders. */
export function createLibraryTree (app: FastifyInstance) {
  async function findRom (owner: Owner, parts: readonly string[]): Promise<RomEntry> {
    const [platform = '', name = ''] = parts
    const entry = await selectEntry(owner, platform, name)
    if (entry === null) throw absent(parts)
    return entry
  }

  /** Finds a file or folder within a folder ROM. */
  async function findInner (
    owner: Owner, parts: readonly string[]
  ): Promise<{ node: Node, children: readonly Node[] }> {
    const entry = await findRom(owner, parts)
    const above = parts.slice(0, 2)
    const files = entry.is_folder ? await selectInnerFiles(owner, entry.id) : []
    const children = listFolder(entry, files, above, parts.slice(2))
    if (children !== null) return { node: folder(...parts), children }
    if (parts.length === 2) return { node: toNode(parts[0] ?? '', entry), children: [] }
    const siblings = listFolder(entry, files, above, parts.slice(2, -1)) ?? []
    const node = siblings.find((one) => one.parts.at(-1) === parts.at(-1))
    if (node === undefined) throw absent(parts)
    return { node, children: [] }
  }

  async function * listPlatform (owner: Owner, platform: string): AsyncGenerator<Node> {
    for await (const entry of listEntries(owner, platform)) yield toNode(platform, entry)
  }

  /** Finds a file or folder with its entries. @throws ApiError NOT_FOUND */
  async function find (owner: Owner, parts: readonly string[]): Promise<{ node: Node, children: AsyncIterable<Node> }> {
    if (parts.length > 1) {
      const { node, children } = await findInner(owner, parts)
      return { node, children: yieldAll(children) }
    }
    const platforms = await selectPlatformFolders(owner)
    const [platform] = parts
    if (platform === undefined) return { node: folder(), children: yieldAll(platforms.map((name) => folder(name))) }
    if (!platforms.includes(platform)) throw absent(parts)
    return { node: folder(platform), children: listPlatform(owner, platform) }
  }

  const toResource = (prefix: string, { parts, file, modified_at: modified }: Node): Resource => ({
    href: toHref(prefix, parts, file === null),
    name: parts.at(-1) ?? 'library',
    file: file === null ? null : { size: file.size, type: TYPE, etag: null },
    modified_at: modified
  })

  return {
    /**
     * Lists a file or folder, and the entries of a folder unless the depth is 0.
     *
     * @param prefix the address of the tree
     * @throws ApiError NOT_FOUND
     */
    async list (
      owner: Owner, prefix: string, parts: readonly string[], depth: 0 | 1
    ): Promise<AsyncIterable<Resource>> {
      const { node, children } = await find(owner, parts)
      return (async function * () {
        yield toResource(prefix, node)
        if (depth === 1) for await (const child of children) yield toResource(prefix, child)
      })()
    },

    /** Opens a file for download. @throws ApiError NOT_FOUND if it does not exist or is a folder */
    async open (owner: Owner, parts: readonly string[]): Promise<FileReply> {
      const { node: { file } } = parts.length < 2 ? { node: folder(...parts) } : await findInner(owner, parts)
      if (file === null) throw absent(parts)
      const download = await app.downloads.openFile(owner, file.id)
      if (download.kind !== 'file') throw absent(parts)
      const { handle, type, disposition } = download
      return { handle, type, disposition, cacheControl: 'private, no-cache' }
    }
  }
}
