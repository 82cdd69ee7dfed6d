"""Opens a folder of frames with VTK's own readers and prints what it sees, one JSON object a frame.

usage: read_frames.py FOLDER   (FOLDER holds frames.pvd)
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as xml

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader


def fields(attributes):
    arrays = {}
    for i in range(attributes.GetNumberOfArrays()):
        array = attributes.GetArray(i)
        arrays[array.GetName()] = {
            "type": array.GetDataTypeAsString(),
            "components": array.GetNumberOfComponents(),
            "values": vtk_to_numpy(array).ravel().tolist(),
        }
    return arrays


def cell(grid, i):
    nodes = grid.GetCell(i)
    return [grid.GetCellType(i)] + [nodes.GetPointId(k) for k in range(nodes.GetNumberOfPoints())]


def main(folder):
    series = xml.parse(folder / "frames.pvd").getroot()
    assert series.get("type") == "Collection"
    for entry in series.iter("DataSet"):
        failures = []
        reader = vtkXMLUnstructuredGridReader()
        reader.AddObserver("ErrorEvent", lambda *_: failures.append(entry.get("file")))
        reader.SetFileName(str(folder / entry.get("file")))
        reader.Update()
        if failures or reader.GetErrorCode():
            sys.exit(f"VTK could not read {entry.get('file')}")
        grid = reader.GetOutput()
        print(
            json.dumps(
                {
                    "listed_time": float(entry.get("timestep")),
                    "time": fields(grid.GetFieldData())["TimeValue"]["values"][0],
                    "points": vtk_to_numpy(grid.GetPoints().GetData()).ravel().tolist(),
                    "cells": [cell(grid, i) for i in range(grid.GetNumberOfCells())],
                    "point_fields": fields(grid.GetPointData()),
                    "cell_fields": fields(grid.GetCellData()),
                }
            )
        )


main(pathlib.Path(sys.argv[1]))
