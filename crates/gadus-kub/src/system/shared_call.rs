//! A call into a shared object: the C library's `abs`, looked up at run time.

use crate::error::KubError;

/// A function of a shared object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedCall(unsafe extern "C" fn(libc::c_int) -> libc::c_int);

impl SharedCall {
    pub(crate) fn find() -> Result<Self, KubError> {
        // SAFETY: the name ends with a zero byte.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"abs".as_ptr()) };
        if address.is_null() {
            return Err(KubError::unavailable("this program has no shared object to call"));
        }
        // SAFETY: the C library's `abs` has this type.
        Ok(Self(unsafe {
            std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(libc::c_int) -> libc::c_int>(
                address,
            )
        }))
    }

    #[inline]
    pub(crate) fn call(self, number: i32) -> i32 {
        // SAFETY: `abs` is defined for all that the callers here give.
        unsafe { (self.0)(number) }
    }
}
