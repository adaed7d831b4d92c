import { useEffect, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Failure, toFailure } from '../../api/failure.ts'
import type { components } from '../../api/schema.d.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Notice, Skeleton } from '../../ui/state.tsx'
import type { Token } from './views.ts'

type Pairing = components['schemas']['ClientTokenPair']

/** Shows how many seconds a code remains valid. */
function useSecondsLeft (pairing: Pairing | null): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    if (pairing === null) return
    const end = performance.now() + pairing.expires_in * 1_000
    const show = () => { setLeft(Math.max(0, Math.ceil((end - performance.now()) / 1_000))) }
    show()
    const timer = setInterval(show, 1_000)
    return () => { clearInterval(timer) }
  }, [pairing])
  return left
}

/** Shows a short code that an app exchanges for the token, so that nobody types the token itself. */
export function PairingDialog ({ token: { id, name }, onClose }: { token: Token, onClose: () => void }) {
  const { common, account: { pairing: words } } = texts()
  const [pairing, setPairing] = useState<Pairing | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const left = useSecondsLeft(pairing)

  async function request (): Promise<void> {
    setFailure(null)
    try {
      setPairing(await call(api.POST('/api/client-tokens/{token_id}/pair', { params: { path: { token_id: id } } })))
    } catch (err) {
      setFailure(toFailure(err))
    }
  }
  useEffect(() => { void request() }, [id])

  const isOver = pairing !== null && left === 0
  return (
    <Dialog
      title={words.title(name)} isOpen onClose={onClose}
      foot={
        <>
          {isOver && <Button onClick={() => { void request() }}>{words.again}</Button>}
          <Button kind='primary' onClick={onClose}>{common.close}</Button>
        </>
      }
    >
      {failure !== null && <Notice kind='failure'>{failure.message}</Notice>}
      {pairing === null && failure === null && <Skeleton height='11rem' />}
      {pairing !== null && (
        <div class='secret'>
          <div class='stack'>
            <p class='soft'>{words.text}</p>
            <p class='pair-big'>{pairing.code}</p>
            <p class='faint number'>{isOver ? words.over : words.left(left)}</p>
          </div>
          <Qr text={pairing.code} label={words.qr} />
        </div>
      )}
    </Dialog>
  )
}
