#include <Python.h>

static PyObject *count(PyObject *self, PyObject *text) {
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "count() takes a text");
        return NULL;
    }
    return PyLong_FromSsize_t(PyUnicode_GetLength(text));
}

static PyMethodDef methods[] = {{"count", count, METH_O, "Count the characters of a text."}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_count", NULL, -1, methods};

PyMODINIT_FUNC PyInit__count(void) { return PyModule_Create(&module); }
