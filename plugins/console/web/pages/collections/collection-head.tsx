import download from 'lucide/dist/esm/icons/download.mjs'
import ellipsis from 'lucide/dist/esm/icons/ellipsis.mjs'
import pencil from 'lucide/dist/esm/icons/pencil.mjs'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import trash from 'lucide/dist/esm/icons/trash.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Collection, type SmartCollection, isOwn } from '../../api/collections.ts'
import { useActions } from '../../api/permissions.ts'
import { cache } from '../../api/resource.ts'
import { addressOf } from '../../base.ts'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { IconButton, LinkButton } from '../../ui/button.tsx'
import { type MenuEntry, Menu } from '../../ui/menu.tsx'
import { Badge } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { Question } from '../library/actions/question.tsx'
import { type AnyCollection, isVirtual } from './collection-card.tsx'
import { FormDialog } from './form-dialog.tsx'
import { SmartDialog } from '../library/smart-dialog.tsx'

const isSmart = (one: AnyCollection): one is SmartCollection => one.is_smart

/** The part of a download's address that names a collection. */
const scopeOf = (one: AnyCollection) => isVirtual(one) ? 'virtual_collection_id' : one.is_smart ? 'smart_collection_id' : 'collection_id'

/** The marks, description and actions of a collection, in the head of its page. */
export function CollectionHead ({ collection }: { collection: AnyCollection }) {
  const { collections: words } = texts()
  const { go } = useView()
  const actions = useActions()
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const own = !isVirtual(collection) && isOwn(collection) ? collection : null
  const { name, description, rom_count: count } = collection
  const close = () => { setOpen(null) }

  async function remove (mine: Collection | SmartCollection): Promise<void> {
    const params = { path: { id: mine.id } }
    if (isSmart(mine)) await call(api.DELETE('/api/collections/smart/{id}', { params }))
    else await call(api.DELETE('/api/collections/{id}', { params }))
    cache.invalidateAll('collections')
    cache.invalidateAll('smart-collections')
    go('collections')
    tellSuccess(words.deletion.done(name))
  }

  const mayDownload = count > 0 && actions.has('rom.download')
  const zip = `api/roms/download?${scopeOf(collection)}=${encodeURIComponent(String(collection.id))}`
  const entries: MenuEntry[] = [
    ...(mayDownload ? [{ id: 'download', label: words.download, icon: download, onSelect: () => { location.assign(addressOf(zip)) } }] : []),
    ...(own === null ? [] : [{ id: 'edit', label: own.is_smart ? words.editFilter : words.edit, icon: pencil, onSelect: () => { setOpen('edit') } }]),
    ...(own === null ? [] : [null, { id: 'delete', label: words.delete, icon: trash, isDanger: true, onSelect: () => { setOpen('delete') } }])
  ]
  return (
    <>
      {collection.is_smart && <Badge>{words.isSmart}</Badge>}
      {!isVirtual(collection) && <Badge>{collection.is_public ? words.isPublic : words.isPrivate}</Badge>}
      {!isVirtual(collection) && own === null && <span class='faint'>{words.by(collection.owner_username)}</span>}
      <span class='library-actions'>
        {own !== null && !own.is_smart && <LinkButton isSmall icon={plus} href='roms'>{words.addGames}</LinkButton>}
        {entries.length > 0 && (
          <Menu entries={entries}>{(trigger) => <IconButton {...trigger} type='button' icon={ellipsis} label={words.more} />}</Menu>
        )}
      </span>
      {description !== '' && <p class='library-note soft'>{description}</p>}
      {open === 'edit' && own !== null && (isSmart(own)
        ? <SmartDialog collection={own} onClose={close} />
        : <FormDialog collection={own} onClose={close} />)}
      {open === 'delete' && own !== null && (
        <Question
          title={words.deletion.title(name)} submit={words.deletion.submit} isDanger onClose={close}
          onConfirm={() => { close(); remove(own).catch(tellFailure) }}
        >
          <p class='soft'>{words.deletion.text}</p>
        </Question>
      )}
    </>
  )
}
