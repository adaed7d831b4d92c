import type { Match, ProviderContext, ProviderId } from '@svc/plugin-sdk'
import { type ListingIndex, createListingIndex, findFile } from './find.ts'
import { type ArtFolder, BOX_ART, fetchListing, isUnavailable } from './listing.ts'
import { type Artwork, toMatch } from './map.ts'

const NO_PICTURES = createListingIndex([])

/**
 * Finds the box art for a name without extension, and the pictures in the other folders. Returns undefined without
 * box art.
 *
 * @param system the platform's folder at the server; without one there are no pictures.
 */
export async function findArtwork (
  name: string, system: ProviderId | undefined, extraFolders: readonly ArtFolder[], ctx: ProviderContext
): Promise<Match<never, string> | undefined> {
  if (typeof system !== 'string') return undefined
  const [cover, ...extras] = await Promise.all([
    findPicture(name, system, BOX_ART, ctx),
    ...extraFolders.map((folder) => findPicture(name, system, folder, ctx))
  ])
  return cover && toMatch(system, cover, extras.filter((extra) => extra !== undefined))
}

async function findPicture (
  name: string, system: string, art: ArtFolder, ctx: ProviderContext
): Promise<Artwork | undefined> {
  const listing = await loadListing(system, art.folder, ctx)
  // The box art alone decides whether there is a match.
  const found = findFile(name, listing, ctx.preferences.regions, art === BOX_ART ? ctx.explain : undefined)
  return found && { ...art, ...found }
}

async function loadListing (system: string, folder: string, ctx: ProviderContext): Promise<ListingIndex> {
  try {
    return await ctx.memo(`listing ${system}/${folder}`,
      async () => createListingIndex(await fetchListing(system, folder, ctx)))
  } catch (err) {
    ctx.signal.throwIfAborted()
    // A missing listing of box art must not read as "no such picture", because then nothing is known of the ROM.
    if (!isUnavailable(err) || folder === BOX_ART.folder) throw err
    ctx.log.warn({ err, system, folder }, 'the listing is not available; its pictures are skipped')
    return NO_PICTURES
  }
}
