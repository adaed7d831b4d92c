import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FetchedMedia, Media, ProviderDefinition } from '@svc/plugin-sdk'
import { type Download, type DownloadOptions, type DownloadingClient, FileWriteError } from '../../core/http/client.ts'
import { samplePixels } from '../resources/image.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { openInside } from '../../core/files/safe-path.ts'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import type { Breaker } from '../circuits/breaker.ts'
import { ProviderSkippedError, checkCircuit } from '../circuits/check-circuit.ts'
import { ArtworkError, onDisk, toStoreError } from './failures.ts'
import { type LinkableLibrary, createWithinLibrary } from '../library/linked-folders.ts'
import type { ProviderMatches } from '../matching/matches.ts'

type Provider = Loaded<ProviderDefinition>
type Providers = ReadonlyMap<string, Provider>

/** One file of artwork with the provider that offers it; null if the ROM itself is the picture. */
export interface ArtworkFile extends Media {
  provider: string | null
  /** The library of files that are already on disk. */
  library_id: number
}

/** The provider inspected the file and reports that it is a placeholder for a missing one. */
export class PlaceholderError extends Error {
  override readonly name = 'PlaceholderError'
}

interface Services {
  http: DownloadingClient
  /** Returns undefined for a library that cannot be read. */
  findLibrary: (libraryId: number) => LinkableLibrary | undefined
  providers: Providers
  breakerOf: (key: string) => Breaker
  /** The scope that calls to providers share. */
  scope: CallScope
}

const LIBRARY = /^file:\/\/(?<path>.+)$/s
const FOLDER = /^folder:\/\/(?<property>[^/]+)\/(?<path>.+)$/s

/**
 * Returns the provider of every address in these matches. If several name one address, a provider with its own
 * `media.fetch` is chosen, because the others may be unable to download it.
 */
export function findProvidersOfUrls (matches: ProviderMatches, providers: Providers): Map<string, string> {
  const keys = new Map<string, string>()
  for (const [key, found] of matches) {
    const media = 'id' in found ? found.media ?? [] : []
    const isOwn = providers.get(key)?.definition.media !== undefined
    for (const { url } of media) if (isOwn || !keys.has(url)) keys.set(url, key)
  }
  return keys
}

/** Lists the addresses of badges of achievements, from all providers. */
export const listBadges = (matches: ProviderMatches): string[] => [...matches.values()]
  .flatMap((found) => 'id' in found ? found.media ?? [] : [])
  .flatMap(({ kind, url }) => kind === 'badge' ? [url] : [])

async function hashFile (path: string): Promise<string> {
  const hash = createHash('sha1')
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

async function describeFile (path: string, contentType: string): Promise<FetchedMedia> {
  const [{ size }, sha1, pixels] = await Promise.all([stat(path), hashFile(path), samplePixels(path)])
  return { content_type: contentType, size, sha1_hash: sha1, pixels }
}

async function copy (from: FileHandle, target: string, signal: AbortSignal): Promise<void> {
  const { size } = await from.stat()
  await onDisk(() => requireFreeSpace(dirname(target), size))
  const file = await onDisk(() => open(target, 'wx'))
  try {
    for await (const chunk of from.createReadStream({ autoClose: false })) {
      signal.throwIfAborted()
      await onDisk(() => file.writeFile(chunk as Buffer))
    }
  } finally {
    await file.close()
  }
}

/** Copies an open file and closes it. */
async function copyFrom (opening: Promise<FileHandle>, target: string, signal: AbortSignal): Promise<void> {
  const from = await opening
  try {
    await copy(from, target, signal)
  } finally {
    await from.close()
  }
}

const placeholder = (key: string) => new PlaceholderError(`${key} has only a placeholder at this address`)

function folderOf (provider: Provider | undefined, property: string): string {
  const folder = provider?.folders[property]
  if (folder === undefined) throw new ArtworkError(`No active provider has a folder '${property}'; check the configuration of the provider`)
  return folder
}

function libraryOf ({ findLibrary }: Services, { library_id: id }: ArtworkFile): LinkableLibrary {
  const library = findLibrary(id)
  if (library === undefined) throw new ArtworkError(`The library with ID '${id}' cannot be read; mount its disk`)
  return library
}

/** The file on disk that a download writes, and the media types that it accepts. */
type DownloadTarget = Required<Pick<DownloadOptions, 'toFile' | 'acceptType'>>

/** Downloads with the provider's own client: with its additions to the request, its rate limit and its masks. */
async function downloadAs (
  { breakerOf, scope }: Services, provider: Provider, { kind, url }: ArtworkFile, target: DownloadTarget
): Promise<Download> {
  checkCircuit(provider, breakerOf(provider.key))
  const { url: address, query, headers, timeoutMs } = await callProvider(provider, scope, async (definition, ctx) =>
    await definition.media?.fetch({ kind, url }, ctx) ?? { url })
  return await provider.http.withSignal(scope.signal).download(address, { query, headers, timeoutMs, ...target })
}

async function download (
  services: Services, piece: ArtworkFile, provider: Provider | undefined, target: DownloadTarget
): Promise<Download> {
  const { http, scope: { signal } } = services
  try {
    return provider?.definition.media === undefined
      ? await http.download(piece.url, { ...target, signal, rules: provider?.mediaRules ?? {} })
      : await downloadAs(services, provider, piece, target)
  } catch (err) {
    if (err instanceof ProviderSkippedError) throw new ArtworkError(`${piece.provider} is not called: ${err.describe()}`, { cause: err })
    throw err instanceof FileWriteError ? toStoreError(err.cause) : err
  }
}

/** Copies or downloads files: from the library, a folder of a provider, its own client, or the internet. */
export function createOrigins (services: Services) {
  const { providers, scope } = services
  const { signal } = scope
  /** Addresses of placeholders, which are not requested again. */
  const placeholders = new Set<string>()

  async function checkAccepted (
    provider: Provider | undefined, { kind, url }: ArtworkFile, { path, contentType }: Download
  ): Promise<void> {
    if (provider?.definition.media?.accept === undefined) return
    const file = await describeFile(path, contentType)
    const isAccepted = await callProvider(provider, scope, async (definition, ctx) =>
      await definition.media?.accept?.({ kind, url }, file, ctx))
    if (isAccepted !== false) return
    placeholders.add(url)
    throw placeholder(provider.key)
  }

  return {
    /**
     * Writes a file of artwork to `target`.
     *
     * @param acceptType returns true for an accepted media type of a download
     * @throws PlaceholderError for a file that its provider refuses
     */
    async writeTo (piece: ArtworkFile, target: string, acceptType: (type: string) => boolean): Promise<void> {
      const { url, provider: key } = piece
      const provider = key === null ? undefined : providers.get(key)
      const inLibrary = LIBRARY.exec(url)?.groups?.path
      if (inLibrary !== undefined) {
        return await copyFrom(createWithinLibrary(libraryOf(services, piece))(inLibrary, openInside), target, signal)
      }
      const { property, path } = FOLDER.exec(url)?.groups ?? {}
      if (property !== undefined && path !== undefined) {
        return await copyFrom(openInside(folderOf(provider, property), path), target, signal)
      }
      if (placeholders.has(url)) throw placeholder(key ?? '')
      await checkAccepted(provider, piece, await download(services, piece, provider, { toFile: target, acceptType }))
    },

    /** Returns the providers that download their own files, and therefore with their own rate limit. */
    listOwnDownloaders: (keys: readonly (string | null)[]): string[] =>
      [...new Set(keys)].filter((key) => key !== null)
        .filter((key) => providers.get(key)?.definition.media !== undefined).sort()
  }
}
export type Origins = ReturnType<typeof createOrigins>
