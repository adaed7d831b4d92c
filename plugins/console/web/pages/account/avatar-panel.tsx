import upload from 'lucide/dist/esm/icons/image-up.mjs'
import { useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type User, updateAccount } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { CropDialog } from './crop-dialog.tsx'

async function sendAvatar (id: number, picture: Blob): Promise<void> {
  const form = new FormData()
  form.set('avatar', picture, 'avatar.png')
  updateAccount(await call(api.PUT('/api/users/{id}', {
    params: { path: { id } }, body: {}, bodySerializer: () => form
  })))
}

/** Removes the picture: an empty text stands for none. */
async function removeAvatar (id: number): Promise<void> {
  updateAccount(await call(api.PUT('/api/users/{id}', { params: { path: { id } }, body: { avatar: '' } })))
  tellSuccess(texts().account.avatar.removed)
}

/** The picture of the account, to choose, crop or remove. */
export function AvatarPanel ({ user }: { user: User }) {
  const { account: { avatar } } = texts()
  const input = useRef<HTMLInputElement>(null)
  const [picture, setPicture] = useState<ImageBitmap | null>(null)
  const [isRemoving, setRemoving] = useState(false)

  async function choose (files: FileList | null): Promise<void> {
    const file = files?.[0]
    if (file === undefined) return
    try {
      setPicture(await createImageBitmap(file))
    } catch {
      tellFailure(new Error(avatar.unreadable))
    }
    if (input.current !== null) input.current.value = ''
  }

  async function remove (): Promise<void> {
    setRemoving(true)
    await removeAvatar(user.id).catch(tellFailure)
    setRemoving(false)
  }

  return (
    <div class='avatar-row'>
      <Avatar user={user} isLarge />
      <div class='stack'>
        <div class='cluster'>
          <Button icon={upload} onClick={() => { input.current?.click() }}>{avatar.choose}</Button>
          {user.avatar_path !== '' && (
            <Button kind='quiet' isBusy={isRemoving} onClick={() => { void remove() }}>{avatar.remove}</Button>
          )}
        </div>
        <p class='field-hint'>{avatar.hint}</p>
      </div>
      <input
        ref={input} type='file' hidden accept='image/png,image/jpeg,image/webp,image/gif' aria-label={avatar.choose}
        onChange={({ currentTarget }) => { void choose(currentTarget.files) }}
      />
      {picture !== null && (
        <CropDialog
          picture={picture} onClose={() => { setPicture(null) }} onCropped={(blob) => sendAvatar(user.id, blob)}
        />
      )}
    </div>
  )
}
