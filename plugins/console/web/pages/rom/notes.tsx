import pencil from 'lucide/dist/esm/icons/pencil.mjs'
import plus from 'lucide/dist/esm/icons/plus.mjs'
import trash from 'lucide/dist/esm/icons/trash.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { accountOf, holds, isGuest } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Check, TextArea, TextField } from '../../ui/field.tsx'
import { createFormDrafts } from '../../ui/form-drafts.ts'
import { useForm } from '../../ui/form.ts'
import { Badge, Notice } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { Section } from './section.tsx'
import { type DetailedRom, reloadRom } from './rom-data.ts'

type Note = components['schemas']['UserNote']
type EnteredNote = Pick<Note, 'title' | 'content' | 'is_public'> & Partial<Pick<Note, 'tags'>>
const EMPTY: EnteredNote = { title: '', content: '', is_public: false }
const draftOf = createFormDrafts<EnteredNote>('note')
const pick = ({ title, content, is_public: isPublic, tags }: Note) => ({ title, content, is_public: isPublic, tags })

function NoteForm ({ romId, note, onClose }: { romId: number, note: Note | null, onClose: () => void }) {
  const { common, rom: { notes: words } } = texts()
  const form = useForm(note === null ? EMPTY : pick(note), async (body) => {
    await call(
      note === null
        ? api.POST('/api/roms/{id}/notes', { params: { path: { id: romId } }, body })
        : api.PUT('/api/roms/{id}/notes/{note_id}', { params: { path: { id: romId, note_id: note.id } }, body })
    )
    void reloadRom(romId)
    onClose()
  }, draftOf(`${romId} ${note?.id}`))
  return (
    <form class='stack' onSubmit={(event) => { form.onSubmit(event) }}>
      {form.failure !== null && form.failure.fields.length === 0 && (
        <Notice kind='failure'>{form.failure.message}</Notice>
      )}
      <TextField
        label={words.name}
        value={form.values.title}
        required
        autofocus
        error={form.errorOf('title')}
        onInput={(title) => { form.set('title', title) }}
      />
      <TextArea
        label={words.content}
        rows={8}
        value={form.values.content}
        error={form.errorOf('content')}
        onInput={(content) => { form.set('content', content) }}
      />
      <Check
        label={words.isPublic}
        isChecked={form.values.is_public}
        onChange={(isPublic) => { form.set('is_public', isPublic) }}
      />
      <div>
        <Button kind='primary' type='submit' isBusy={form.isBusy}>{common.save}</Button>
      </div>
    </form>
  )
}

/** Deletes a note; the undo writes it again. */
async function deleteNote (romId: number, note: Note): Promise<void> {
  const { actions, notes: words } = texts().rom
  const writeAgain = () => {
    call(api.POST('/api/roms/{id}/notes', { params: { path: { id: romId } }, body: pick(note) }))
      .then(() => reloadRom(romId))
      .catch(tellFailure)
  }
  await call(api.DELETE('/api/roms/{id}/notes/{note_id}', { params: { path: { id: romId, note_id: note.id } } }))
  tellSuccess(words.deleted(note.title), { label: actions.undo, run: writeAgain })
  await reloadRom(romId)
}

function NoteCard ({
  note,
  isOwn,
  onEdit,
  onDelete
}: {
  note: Note
  isOwn: boolean
  onEdit: () => void
  onDelete: () => Promise<void>
}) {
  const { notes: words } = texts().rom
  const [isBusy, setBusy] = useState(false)
  const remove = () => {
    setBusy(true)
    onDelete().catch(tellFailure).finally(() => { setBusy(false) })
  }
  return (
    <li class='rom-note'>
      <div class='rom-note-head'>
        <h3>{note.title}</h3>
        {note.is_public && <Badge>{words.public}</Badge>}
        {isOwn && (
          <span class='cluster'>
            <IconButton isSmall icon={pencil} label={words.edit(note.title)} onClick={onEdit} />
            <IconButton isSmall icon={trash} isBusy={isBusy} label={words.delete(note.title)} onClick={remove} />
          </span>
        )}
      </div>
      {note.content !== '' && <p class='rom-note-text'>{note.content}</p>}
      <p class='faint'>
        {[isOwn ? '' : words.by(note.username), format().ago(note.updated_at)].filter(Boolean).join(' · ')}
      </p>
    </li>
  )
}

/** The person's own notes about a game, and the public ones of others. */
export function Notes ({ rom }: { rom: DetailedRom }) {
  const { notes: words } = texts().rom
  const [open, setOpen] = useState<Note | 'new' | null>(null)
  const account = accountOf()
  const mayWrite = account !== null && !isGuest(account) && holds('roms.user.write')
  const { all_user_notes: notes } = rom
  if (notes.length === 0 && !mayWrite) return null
  const close = () => { setOpen(null) }
  return (
    <Section
      title={words.title}
      action={
        mayWrite && <Button isSmall icon={plus} onClick={() => { setOpen('new') }}>{words.add}</Button>
      }
    >
      {notes.length === 0 && <p class='soft'>{words.empty}</p>}
      <ul class='rom-notes'>
        {notes.map((note) => (
          <NoteCard
            key={note.id}
            note={note}
            isOwn={mayWrite && note.user_id === account.id}
            onEdit={() => { setOpen(note) }}
            onDelete={() => deleteNote(rom.id, note)}
          />
        ))}
      </ul>
      <Dialog
        title={open === 'new' || open === null ? words.add : words.edit(open.title)}
        isOpen={open !== null}
        onClose={close}
      >
        <NoteForm romId={rom.id} note={open === 'new' ? null : open} onClose={close} />
      </Dialog>
    </Section>
  )
}
