import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { type View, WHOLE, ZOOM_MAX, limit, move, squareOf } from './crop.ts'

/** The side of a stored avatar in pixels. */
const SIDE = 512
const STEP = 0.05
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP]
}

interface CropProps {
  picture: ImageBitmap
  onClose: () => void
  onCropped: (blob: Blob) => Promise<void>
}

function toBlob (canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error(texts().account.avatar.unreadable))
      else resolve(blob)
    }, 'image/png')
  })
}

/** Lets a person choose the square of a picture: by dragging, by arrow keys, and by a slider. */
export function CropDialog ({ picture, onClose, onCropped }: CropProps) {
  const { common, account: { avatar } } = texts()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [view, setView] = useState<View>(WHOLE)
  const [isBusy, setBusy] = useState(false)
  const zoomId = useId()

  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    const { left, top, side } = squareOf(picture, view)
    context?.clearRect(0, 0, SIDE, SIDE)
    context?.drawImage(picture, left, top, side, side, 0, 0, SIDE, SIDE)
  }, [picture, view])

  function drag ({ buttons, movementX, movementY, currentTarget }: PointerEvent): void {
    if (buttons === 0 || !(currentTarget instanceof HTMLElement)) return
    const { clientWidth } = currentTarget
    setView((former) => move(picture, former, -movementX / clientWidth, -movementY / clientWidth))
  }

  function press (event: KeyboardEvent): void {
    const [right, down] = ARROWS[event.key] ?? [0, 0]
    if (right === 0 && down === 0) return
    event.preventDefault()
    setView((former) => move(picture, former, right, down))
  }

  async function crop (): Promise<void> {
    if (canvas.current === null) return
    setBusy(true)
    try {
      await onCropped(await toBlob(canvas.current))
      onClose()
    } catch (err) {
      tellFailure(err)
    }
    setBusy(false)
  }

  return (
    <Dialog
      title={avatar.crop} isOpen onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind='primary' isBusy={isBusy} onClick={() => { void crop() }}>{common.save}</Button>
        </>
      }
    >
      <div class='stack'>
        <div
          class='crop' tabIndex={0} role='application' aria-label={avatar.moveHint} onPointerMove={drag} onKeyDown={press}
          onPointerDown={({ currentTarget, pointerId }) => { currentTarget.setPointerCapture(pointerId) }}
        >
          <canvas ref={canvas} width={SIDE} height={SIDE} />
        </div>
        <div class='field'>
          <label class='field-label' for={zoomId}>{avatar.zoom}</label>
          <input
            id={zoomId} type='range' min={1} max={ZOOM_MAX} step={0.05} value={view.zoom}
            onInput={({ currentTarget }) => { setView(limit(picture, { ...view, zoom: Number(currentTarget.value) })) }}
          />
        </div>
        <p class='field-hint'>{avatar.moveHint}</p>
      </div>
    </Dialog>
  )
}
