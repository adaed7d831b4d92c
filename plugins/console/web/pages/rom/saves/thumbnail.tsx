import save from 'lucide/dist/esm/icons/save.mjs'
import { useState } from 'preact/hooks'
import { Icon } from '../../../ui/icon.tsx'
import { addressOfPath } from './asset-calls.ts'

/** The picture of a save, or a sign in its place. */
export function Thumbnail ({ picture }: { picture: string | null }) {
  const [failed, setFailed] = useState('')
  return (
    <span class='save-picture' aria-hidden>
      {picture === null || failed === picture
        ? <Icon node={save} />
        : <img src={addressOfPath(picture)} alt='' loading='lazy' decoding='async' onError={() => { setFailed(picture) }} />}
    </span>
  )
}
