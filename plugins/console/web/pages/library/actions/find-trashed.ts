interface TrashPage { items: readonly { id: number, kind: string, rom_id: number }[], total: number }

/** Returns the items of deleted ROMs in the trash, which lists the last deleted first, page by page. */
export async function findTrashed (
  ids: readonly number[], loadPage: (offset: number) => Promise<TrashPage>
): Promise<number[]> {
  const wanted = new Set(ids)
  const found: number[] = []
  for (let offset = 0, total = 1; offset < total && found.length < wanted.size;) {
    const page = await loadPage(offset)
    for (const { id, kind, rom_id: rom } of page.items) if (kind === 'rom' && wanted.has(rom)) found.push(id)
    if (page.items.length === 0) break
    offset += page.items.length
    total = page.total
  }
  return found
}
